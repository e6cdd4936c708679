/// What makes an MVPD an OAuth 2.0 and OpenID provider (mvpd §5 item 3).
public struct OAuthSettings: Sendable, Equatable {
    /// A client of the provider.
    public struct Client: Sendable, Equatable {
        public var id: String
        /// File with the secret.
        public var secret: String
        /// Answers go to these addresses, character by character, and nowhere else.
        public var redirectURIs: [String]
    }

    public var issuer: String
    public var clients: [Client]
    /// Files with the key that takes the first one's place when keys are rotated, and with its certificate; nil: there is none.
    public var nextKey: String?
    public var nextCertificate: String?
}

extension SettingsFile {
    struct OAuth: Decodable {
        let issuer: String?
        let clients: [Client]
        let nextKey: String?
        let nextCertificate: String?
    }

    struct Client: Decodable {
        let id: String
        let secret: String
        let redirectURIs: [String]
    }
}

extension OAuthSettings {
    init(_ entry: SettingsFile.OAuth, mvpd: String, publicURL: String, resolve: (String) -> String) {
        self.init(
            issuer: entry.issuer ?? "\(publicURL)/oauth/\(mvpd)",
            clients: entry.clients.map { Client(id: $0.id, secret: resolve($0.secret), redirectURIs: $0.redirectURIs) },
            nextKey: entry.nextKey.map(resolve), nextCertificate: entry.nextCertificate.map(resolve))
    }
}
