export type {
  Message,
  RpcStatus,
  CallContext,
  UnaryMethod,
  StreamCall,
  StreamHandler,
  BidiMethod,
  ServerStreamMethod,
  Method,
  MethodTable,
} from './src/rpc.ts';
