/** The methods of etcd (golang-jwt), by their names. */
export const jwtMethods = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'HS256',
  'HS384',
  'HS512',
] as const;
export type JwtMethod = (typeof jwtMethods)[number];
