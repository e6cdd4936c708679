internal import Foundation

/// A throwaway key pair with a self-signed certificate, made by the `openssl` program.
///
/// The signer of the tests stands on `openssl` and `xmlsec1`. It shares no code with the tested code or with the other issuers of this repository.
public struct SignerIdentity: Sendable {
    /// The kind of key.
    public enum Kind: Sendable {
        case rsa(bits: Int)
        case p256

        fileprivate var arguments: [String] {
            switch self {
            case .rsa(let bits): ["-newkey", "rsa:\(bits)"]
            case .p256: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            }
        }
    }

    public let privateKeyPEM: String
    public let certificatePEM: String
    public let certificateDER: [UInt8]

    public init(_ kind: Kind = .rsa(bits: 2048), commonName: String = "idp.harbor.example") throws {
        let scratch = try Scratch()
        try Tool.run(
            "openssl",
            ["req", "-x509", "-nodes", "-sha256", "-days", "30", "-subj", "/CN=\(commonName)"] + kind.arguments
                + ["-keyout", scratch.path("key"), "-out", scratch.path("certificate")])
        privateKeyPEM = String(decoding: try scratch.read("key"), as: UTF8.self)
        certificatePEM = String(decoding: try scratch.read("certificate"), as: UTF8.self)
        certificateDER = Array(try Tool.run("openssl", ["x509", "-in", scratch.path("certificate"), "-outform", "DER"]))
    }

    /// A pair that exists already.
    public init(privateKeyPEM: String, certificatePEM: String) throws {
        let scratch = try Scratch()
        let path = try scratch.write(certificatePEM, as: "certificate")
        self.privateKeyPEM = privateKeyPEM
        self.certificatePEM = certificatePEM
        certificateDER = Array(try Tool.run("openssl", ["x509", "-in", path, "-outform", "DER"]))
    }
}

/// Pairs that are made once, for tests that do not mind whose they are: an RSA key takes a tenth of a second and more.
extension SignerIdentity {
    /// The identity of an MVPD.
    public static let sharedProvider = Result { try SignerIdentity() }
    /// Our own identity.
    public static let sharedServiceProvider = Result { try SignerIdentity(commonName: "sp.pass.example") }
}
