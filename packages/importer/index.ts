export { EtcdDatabase, type EtcdDatabaseOptions } from './src/etcd-database.ts';
export { type ImportReport, importDatabase, type ImportOptions } from './src/import-database.ts';
export { ImportError, type ImportFault } from './src/import-error.ts';
export { type VersionKey, versionKey } from './src/version-key.ts';
