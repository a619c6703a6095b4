export type ListenAddress =
  /**
   * `port` 0 takes a free port. An empty `host` listens on every interface. With `reusePort` (SO_REUSEPORT) other processes that set
   * it, too, may have the same port, and the kernel spreads the connections; it is off by default.
   */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly reusePort?: boolean }
  | { readonly kind: 'unix'; readonly path: string };

export type BoundAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };
