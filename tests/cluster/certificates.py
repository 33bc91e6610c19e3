"""A certificate authority for one test cluster, a server certificate, and a wrong authority."""
import os

from postgres import give_away, run

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _authority(folder, name, subject):
    run("openssl", "req", "-x509", *EC, "-days", "30", "-subj", f"/CN={subject}",
        "-addext", "keyUsage=critical,keyCertSign,cRLSign",
        "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")


def make(folder):
    """Fills the folder and returns the paths as cluster.json names them."""
    folder.mkdir()
    give_away(folder)
    _authority(folder, "ca", "pgweir test authority")
    _authority(folder, "wrong-ca", "pgweir wrong authority")
    run("openssl", "req", *EC, "-subj", "/CN=localhost",
        "-keyout", folder / "server.key", "-out", folder / "server.csr")
    extensions = folder / "server.ext"
    extensions.write_text("basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n"
                          "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    run("openssl", "x509", "-req", "-days", "30", "-in", folder / "server.csr",
        "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key", "-CAcreateserial",
        "-extfile", extensions, "-out", folder / "server.crt")
    os.chmod(folder / "server.key", 0o600)  # the server refuses a key that others can read
    names = {"ca": "ca.crt", "certificate": "server.crt", "key": "server.key",
             "wrong_ca": "wrong-ca.crt"}
    return {key: str(folder / name) for key, name in names.items()}
