/** The input of an encoder: a message in which every field is optional, at every depth. */
export type Init<Message> = { readonly [Field in keyof Message]?: InitValue<Message[Field]> | undefined };

type InitValue<Value> = Value extends Uint8Array | bigint
  ? Value
  : Value extends readonly (infer Element)[]
    ? readonly InitValue<Element>[]
    : Value extends object
      ? Init<Value>
      : Value;
