package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// client is one user of the apiserver, on a connection of its own.
type client struct {
	typed   *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
}

func (a *apiserver) newClient(name string) (*client, error) {
	config := &rest.Config{
		Host:      a.address,
		UserAgent: "e2e-" + name,
		TLSClientConfig: rest.TLSClientConfig{
			CAFile: a.certs.caFile, CertFile: a.certs.adminCertFile, KeyFile: a.certs.adminKeyFile,
		},
		// No limit on our side, and no shared connection: clients with one dialer between them share one.
		QPS:  -1,
		Dial: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	binary := rest.CopyConfig(config)
	binary.ContentType = runtime.ContentTypeProtobuf
	binary.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(binary)
	return &client{typed: typed, dynamic: dynamicClient}, err
}

// kubectl runs the binary with a configuration file of its own and gives what it says.
type kubectl struct {
	binary, kubeconfig, dir string
}

func newKubectl(binary, dir string, server *apiserver) (*kubectl, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: server.address, CertificateAuthority: server.certs.caFile}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{
		ClientCertificate: server.certs.adminCertFile, ClientKey: server.certs.adminKeyFile,
	}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "admin"}
	config.CurrentContext = "e2e"
	file := filepath.Join(dir, "kubeconfig")
	return &kubectl{binary: binary, kubeconfig: file, dir: dir}, clientcmd.WriteToFile(*config, file)
}

func (k *kubectl) run(ctx context.Context, manifest string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, k.binary, args...)
	// Its cache of the API would land in the home directory.
	command.Env = append(os.Environ(), "KUBECONFIG="+k.kubeconfig, "HOME="+k.dir)
	command.Stdin = strings.NewReader(manifest)
	output, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return string(output), nil
}

// newStoreClient goes past the apiserver: what it says is what the store has.
func newStoreClient(urls []string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: urls, DialTimeout: 20 * time.Second, Logger: zap.NewNop()})
}
