import { generatedContract } from '@engram/protobuf/contract';
import { messageSet } from '@engram/protobuf/schema';
import * as errorpb from '../src/proto/gen/errorpb.ts';
import * as kvrpcpb from '../src/proto/gen/kvrpcpb.ts';
import * as metapb from '../src/proto/gen/metapb.ts';
import * as pdpb from '../src/proto/gen/pdpb.ts';
import * as tikvpb from '../src/proto/gen/tikvpb.ts';

generatedContract(messageSet('tikv'), { errorpb, kvrpcpb, metapb, pdpb, tikvpb });
