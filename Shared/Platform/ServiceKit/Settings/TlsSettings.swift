/// The program's TLS identity, PEM files relative to the settings file.
public struct TlsSettings: Decodable, Sendable, Hashable {
    public let certificate: String
    public let key: String
    public let trustAnchors: String
}
