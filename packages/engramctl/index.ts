// The program as a function, and what it decodes.
export { type ProgramParts, runProgram } from './src/program.ts';
export { type KubeValue, kubeValue } from './src/kube/kube-value.ts';
