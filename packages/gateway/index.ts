/** etcd's JSON gateway: requests of HTTP become calls of the methods that gRPC calls. */
export { Gateway, type GatewayOptions } from './src/gateway.ts';
export type { GatewaySocket, SocketPiece } from './src/gateway-socket.ts';
export type { GatewayAnswer, GatewayRequest } from './src/gateway-request.ts';
export { routes, type Route } from './src/routes.ts';
