import type { Logger } from '@engram/core';

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
