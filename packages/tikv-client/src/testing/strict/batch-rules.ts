import type { BatchCommandsRequest } from '../../proto/gen/tikvpb.ts';
import type { FakeCall } from '../fake-store.ts';
import { bodyOf, type CommandName } from '../store-commands.ts';
import { need } from './refusal.ts';

export interface BatchedRequest {
  readonly id: number;
  readonly command: CommandName;
  readonly body: Pick<FakeCall, 'context'>;
}

/** The rules of one BatchCommands stream, except those for the contents of its requests. */
export class BatchRules {
  readonly #open = new Set<number>();
  readonly #ownClient: boolean;

  constructor(ownClient: boolean) {
    this.#ownClient = ownClient;
  }

  /** The requests of a message, each with its id and command. Throws Refusal. */
  requests({ requests, requestIds }: BatchCommandsRequest): readonly BatchedRequest[] {
    need(requests.length === requestIds.length, 'BatchCommands: requests and their ids differ in number');
    return requests.map((request, at) => {
      const id = requestIds[at]!;
      need(!this.#open.has(id), `BatchCommands: id ${id} waits for an answer already`);
      this.#open.add(id);
      const found = bodyOf<BatchedRequest['body']>(request);
      need(found !== undefined, 'BatchCommands: a request is empty, or of a kind that servers do not take in batches');
      need(
        !this.#ownClient || found.command !== 'CheckSecondaryLocks',
        'BatchCommands: old servers crash over CheckSecondaryLocks in one',
      );
      return { id, ...found };
    });
  }

  answered(id: number): void {
    this.#open.delete(id);
  }
}
