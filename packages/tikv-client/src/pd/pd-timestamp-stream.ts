import { assert, type Clock, GrpcCode } from '@engram/core';
import { decode, encode } from '@engram/protobuf';
import { composeTimestamp, type TimestampAnswer, type TimestampStream } from '@engram/tso';
import { TikvError } from '../errors.ts';
import { TsoRequestCodec, type TsoResponse, TsoResponseCodec } from '../proto/gen/pdpb.ts';
import { Call } from '../runtime/call.ts';
import { type Channel, type MessageStream, TransportError, unavailable } from '../transport/transport.ts';
import type { PdMembers } from './pd-members.ts';

const lost = { kind: 'lost' } as const;

/** The stream of timestamps from PD's leader. It follows the leadership of PD. Rejects with TikvError. */
export class PdTimestampStream implements TimestampStream {
  readonly #members: PdMembers;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #lifetime: Call;
  #open: { readonly channel: Channel; readonly stream: MessageStream } | undefined;
  #answer: ((answer: TsoResponse | TransportError) => void) | undefined;

  constructor(members: PdMembers, options: { clock: Clock; timeoutMs: number; closing: AbortSignal }) {
    this.#members = members;
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#lifetime = new Call(options.clock, Number.POSITIVE_INFINITY, undefined, options.closing);
  }

  async ask(count: number): Promise<TimestampAnswer> {
    assert(count > 0, 'PD ends a stream that asks for no timestamp');
    const answer = await this.#request(count);
    if (answer instanceof TransportError) return lost;
    const { timestamp, header } = answer;
    if (header?.error !== undefined && header.error.type !== 0) {
      return { kind: 'refused', error: new TikvError('pd-error', header.error.message) };
    }
    if (timestamp === undefined || timestamp.suffixBits !== 0) {
      return { kind: 'refused', error: new TikvError('protocol-error', 'PD answered without a global timestamp') };
    }
    return { kind: 'allocated', last: composeTimestamp(timestamp.physical, timestamp.logical), count: answer.count };
  }

  async recover(failures: number): Promise<void> {
    this.drop();
    await this.#members.refresh(this.#lifetime).catch((error: unknown) => {
      if (error instanceof TikvError && (error.code === 'closed' || error.code === 'aborted')) throw error;
    });
    if (failures > 1) await this.#lifetime.sleep(Math.min(100, 10 * 2 ** Math.min(failures, 4)));
  }

  drop(): void {
    const held = this.#open;
    this.#open = undefined;
    held?.stream.cancel();
  }

  async #request(count: number): Promise<TsoResponse | TransportError> {
    let channel: Channel;
    try {
      channel = await this.#members.leader(this.#lifetime);
    } catch (error) {
      if (error instanceof TikvError && error.code === 'pd-unreachable') return unavailable(error.message);
      throw error;
    }
    if (this.#open?.channel !== channel) {
      this.drop();
      this.#open = { channel, stream: this.#connect(channel) };
    }
    const { stream } = this.#open;
    return new Promise((resolve) => {
      const timer = this.#clock.after(this.#timeoutMs, () =>
        this.#answer?.(new TransportError(GrpcCode.DEADLINE_EXCEEDED, 'PD did not answer')),
      );
      this.#answer = (answer) => {
        this.#answer = undefined;
        timer.cancel();
        resolve(answer);
      };
      stream.write(
        encode(TsoRequestCodec, { header: { clusterId: this.#members.clusterId }, count, dcLocation: 'global' }),
      );
    });
  }

  #connect(channel: Channel): MessageStream {
    const stream = channel.stream('/pdpb.PD/Tso', {
      message: (bytes) => {
        if (this.#open?.stream !== stream) return;
        try {
          this.#answer?.(decode(TsoResponseCodec, bytes));
        } catch (cause) {
          this.#answer?.(new TransportError(GrpcCode.INTERNAL, 'PD sent a damaged message', { cause }));
        }
      },
      end: (error) => {
        // If no request is under way, the next request opens a new stream.
        if (this.#open?.stream !== stream) return;
        this.#open = undefined;
        this.#answer?.(error);
      },
    });
    return stream;
  }
}
