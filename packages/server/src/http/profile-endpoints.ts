import { CPU_SECONDS_MAX, type ProfileFormat, type Profiler, ProfilerBusy } from '@engram/telemetry';
import type { HttpRequest, HttpResponse } from '@engram/transport';
import { shownArguments } from '../shown-arguments.ts';

/** Go's path. All below it is answered here. */
export const PROFILES_PATH = '/debug/pprof/';
/** Go's, where the request names none, or none that is a number above 0. */
const CPU_SECONDS_DEFAULT = 30;

const text = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

type Profiles = Pick<Profiler, 'cpu' | 'heap'>;
type ProfileRequest = Pick<HttpRequest, 'path' | 'query' | 'signal'>;
type Page = (profiler: Profiles, request: ProfileRequest) => HttpResponse | Promise<HttpResponse>;

const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
  ['', () => indexPage()],
  ['profile', cpuProfile],
  ['heap', heapProfile],
  ['cmdline', () => ({ status: 200, headers: text, body: shownArguments(process.argv).join('\0') })],
]);

/**
 * Go's pages of profiles (net/http/pprof), as far as there is something to profile. As in etcd, whoever reaches the client URLs may have
 * them, also with users.
 */
export const profilesEndpoint =
  (profiler: Profiles) =>
  (request: ProfileRequest): HttpResponse | Promise<HttpResponse> =>
    pages.get(request.path.slice(PROFILES_PATH.length))?.(profiler, request) ?? refusal(404, 'Unknown profile');

async function cpuProfile(profiler: Profiles, { query, signal }: ProfileRequest): Promise<HttpResponse> {
  const format = formatOf(query);
  if (format === undefined) return unknownFormat();
  const asked = Number(query.get('seconds'));
  const seconds = Number.isInteger(asked) && asked > 0 ? asked : CPU_SECONDS_DEFAULT;
  if (seconds > CPU_SECONDS_MAX) return refusal(400, `seconds: at most ${CPU_SECONDS_MAX}`);
  try {
    const profile = await profiler.cpu(seconds, format, signal);
    return profile === undefined ? refusal(408, 'the client is gone') : file(profile, format, 'profile', 'cpuprofile');
  } catch (error) {
    if (!(error instanceof ProfilerBusy)) throw error;
    return refusal(500, `Could not enable CPU profiling: ${error.message}`);
  }
}

async function heapProfile(profiler: Profiles, { query, signal }: ProfileRequest): Promise<HttpResponse> {
  const format = formatOf(query);
  if (format === undefined) return unknownFormat();
  if (query.has('seconds')) return refusal(400, '"seconds" parameter is not supported for this profile type');
  return file(await profiler.heap(format, signal), format, 'heap', 'heapprofile');
}

function formatOf(query: URLSearchParams): ProfileFormat | undefined {
  const format = query.get('format') ?? 'pprof';
  return format === 'pprof' || format === 'chrome' ? format : undefined;
}

const unknownFormat = (): HttpResponse => refusal(400, 'format: pprof or chrome');

const file = (body: Uint8Array, format: ProfileFormat, name: string, ofChrome: string): HttpResponse => ({
  status: 200,
  headers: {
    'content-type': format === 'pprof' ? 'application/octet-stream' : 'application/json',
    'content-disposition': `attachment; filename="${format === 'pprof' ? name : `engram.${ofChrome}`}"`,
    'x-content-type-options': 'nosniff',
  },
  body,
});

/** Marked as Go marks it: `go tool pprof` shows the text. */
const refusal = (status: number, why: string): HttpResponse => ({
  status,
  headers: { ...text, 'x-go-pprof': '1' },
  body: `${why}\n`,
});

function indexPage(): HttpResponse {
  const body = `<!doctype html>
<title>${PROFILES_PATH}</title>
<p>Profiles of this process, for <code>go tool pprof</code>; with <code>format=chrome</code> for the developer tools of Chrome.</p>
<ul>
<li><a href="heap">heap</a>: objects that live now, sampled when they were made</li>
<li><a href="profile?seconds=30">profile</a>: what the CPU does for some seconds</li>
<li><a href="cmdline">cmdline</a>: the command line</li>
</ul>
`;
  return { status: 200, headers: { ...text, 'content-type': 'text/html; charset=utf-8' }, body };
}
