import type { ServeOptions, Server } from '../serve-options.ts';

/** `serveGrpcJs` of serve.ts. Loads @grpc/grpc-js when it is called: a node without it takes 10 MiB less. */
export async function serveGrpcJs(options: ServeOptions): Promise<Server> {
  const loaded = await import('./serve.ts');
  return await loaded.serveGrpcJs(options);
}
