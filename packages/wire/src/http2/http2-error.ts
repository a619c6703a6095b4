/**
 * The peer violated the protocol. `streamId` 0 ends the connection (GOAWAY with `code`); any other ends that stream
 * (RST_STREAM with `code`).
 */
export class Http2Error extends Error {
  override readonly name = 'Http2Error';
  readonly code: number;
  readonly streamId: number;

  constructor(code: number, message: string, streamId = 0) {
    super(message);
    this.code = code;
    this.streamId = streamId;
  }
}
