import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { compress, type Part, writeTar } from './archive.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { root } from './bundle.ts';
import { readDockerfile } from './dockerfile.ts';
import { addLibraries } from './libraries.ts';
import { type Architecture, sha256 } from './node-binary.ts';

export interface ImageOptions {
  readonly architecture: Architecture;
  readonly version: string;
  /** The commit. */
  readonly revision: string;
  readonly epochSeconds: number;
  readonly executable: string;
  readonly native: string;
  /** An empty folder for what is on the way. */
  readonly work: string;
  /** Where the file system and the image go. */
  readonly out: string;
}

export const imageUser = 65532;
const ociNames: Readonly<Record<Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Writes two files: the file system of the image, which `docker build` takes with deploy/Dockerfile, and the image itself
 * as an archive that `docker load`, `podman load`, `ctr images import` and `skopeo` read (an OCI layout with Docker's
 * manifest beside it). Returns their paths.
 */
export async function writeImage(options: ImageOptions): Promise<{ readonly rootfs: string; readonly image: string }> {
  const { architecture, version, revision, epochSeconds, work, out } = options;
  const oci = ociNames[architecture];
  const files = join(work, 'files');
  const parts = await fillFiles(files, options);
  const layer = join(work, 'layer.tar');
  await writeTar(layer, files, parts, epochSeconds);
  const rootfs = join(out, `engram-${version}-image-${oci}-rootfs.tar`);
  copyFileSync(layer, rootfs);

  const layout = join(work, 'layout');
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const created = new Date(epochSeconds * 1000).toISOString();
  const config = readDockerfile(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'), {
    VERSION: version,
    REVISION: revision,
  });
  const packed = join(work, 'layer.tar.gz');
  await compress(layer, packed);
  const layerBlob = { digest: sha256(packed), size: statSync(packed).size };
  renameSync(packed, join(blobs, layerBlob.digest));
  const configBlob = writeBlob(blobs, {
    architecture: oci,
    os: 'linux',
    created,
    config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created, created_by: 'deploy/Dockerfile' }],
  });
  const manifestBlob = writeBlob(blobs, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', configBlob),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar+gzip', layerBlob)],
  });
  const tag = `engram:${version}`;
  const annotations = { 'io.containerd.image.name': tag, 'org.opencontainers.image.ref.name': version };
  const manifest = { ...descriptor('application/vnd.oci.image.manifest.v1+json', manifestBlob), annotations };
  writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' });
  writeJson(join(layout, 'index.json'), {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ ...manifest, platform: { architecture: oci, os: 'linux' } }],
  });
  const path = (digest: string): string => `blobs/sha256/${digest}`;
  writeJson(join(layout, 'manifest.json'), [
    { Config: path(configBlob.digest), RepoTags: [tag], Layers: [path(layerBlob.digest)] },
  ]);
  const image = join(out, `engram-${version}-image-${oci}.tar`);
  rmSync(image, { force: true });
  const names = ['blobs', 'index.json', 'manifest.json', 'oci-layout'];
  await writeTar(
    image,
    layout,
    names.map((name) => ({ path: name })),
    epochSeconds,
  );
  return { rootfs, image };
}

async function fillFiles(files: string, options: ImageOptions): Promise<readonly Part[]> {
  const { architecture, executable, native, epochSeconds } = options;
  for (const folder of ['etc', 'tmp', 'usr/bin', 'usr/lib/engram', 'usr/share/engram', 'var/lib/engram'])
    mkdirSync(join(files, folder), { recursive: true });
  const libraries = await addLibraries(files, architecture);
  copyFileSync(executable, join(files, 'usr/bin/engram'));
  symlinkSync('engram', join(files, 'usr/bin/etcd')); // the command of a kubeadm manifest
  symlinkSync('engram', join(files, 'usr/bin/engramctl'));
  copyFileSync(native, join(files, `usr/lib/engram/classic-level-linux-${architecture}.node`));
  copyFileSync(join(root, 'LICENSE'), join(files, 'usr/share/engram/LICENSE'));
  const bill = await billOfMaterials([architecture], libraries, epochSeconds);
  writeFileSync(join(files, 'usr/share/engram/sbom.cdx.json'), bill);
  const user = `engram:x:${imageUser}:${imageUser}::/var/lib/engram:/nonexistent\n`;
  writeFileSync(join(files, 'etc/passwd'), `root:x:0:0::/:/nonexistent\n${user}`);
  writeFileSync(join(files, 'etc/group'), `root:x:0:\nengram:x:${imageUser}:\n`);
  writeFileSync(join(files, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  const loader = architecture === 'x64' ? [{ path: 'lib64' }] : [];
  return [
    ...['etc', 'lib', ...loader.map(({ path }) => path), 'usr'].map((path) => ({ path })),
    { path: 'tmp', mode: '1777' },
    { path: 'var/lib/engram', owner: imageUser, mode: '0700' },
  ];
}

interface Blob {
  readonly digest: string;
  readonly size: number;
}

function writeBlob(folder: string, content: object): Blob {
  const text = JSON.stringify(content);
  const digest = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(folder, digest), text);
  return { digest, size: Buffer.byteLength(text) };
}

const descriptor = (mediaType: string, { digest, size }: Blob) => ({ mediaType, digest: `sha256:${digest}`, size });
const writeJson = (file: string, content: object): void => writeFileSync(file, JSON.stringify(content));
