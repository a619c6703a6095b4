package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificates are files: what kube-apiserver shows, what it trusts, what signs service accounts, and who we are.
type certificates struct {
	caFile, servingCertFile, servingKeyFile, adminCertFile, adminKeyFile, serviceAccountKeyFile string
}

const certificateLife = 24 * time.Hour

func makeCertificates(dir string) (*certificates, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	files := &certificates{
		caFile: in("ca.crt"), servingCertFile: in("apiserver.crt"), servingKeyFile: in("apiserver.key"),
		adminCertFile: in("admin.crt"), adminKeyFile: in("admin.key"), serviceAccountKeyFile: in("service-account.key"),
	}
	caKey, err := newKey(in("ca.key"))
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "e2e-ca"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if err := sign(files.caFile, ca, ca, caKey.Public(), caKey); err != nil {
		return nil, err
	}
	serving := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:    []string{"localhost"},
	}
	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, leaf := range []struct {
		template          *x509.Certificate
		certFile, keyFile string
	}{{serving, files.servingCertFile, files.servingKeyFile}, {admin, files.adminCertFile, files.adminKeyFile}} {
		key, err := newKey(leaf.keyFile)
		if err != nil {
			return nil, err
		}
		if err := sign(leaf.certFile, leaf.template, ca, key.Public(), caKey); err != nil {
			return nil, err
		}
	}
	_, err = newKey(files.serviceAccountKeyFile)
	return files, err
}

func newKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, writePEM(file, "EC PRIVATE KEY", der)
}

func sign(file string, template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Minute)
	template.NotAfter = time.Now().Add(certificateLife)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return writePEM(file, "CERTIFICATE", der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
