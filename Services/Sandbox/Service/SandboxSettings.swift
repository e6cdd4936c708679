/// The settings of a stand-in: addresses, key files, signatures, people.
public struct SandboxSettings: Sendable, Equatable {
    public struct Listener: Sendable, Equatable {
        public var address: String
        /// 0 takes any free port.
        public var port: Int
    }

    public struct Tls: Sendable, Equatable {
        public var certificate: String
        public var key: String
    }

    /// The service provider that may send requests.
    public struct ServiceProvider: Sendable, Equatable {
        /// The base entity id; issuers `…/on-behalf-of/{requestor}` belong to it too (mvpd §2.2).
        public var entityID: String
        /// File with the certificate that verifies requests.
        public var signingCertificate: String
        /// File with the certificate to encrypt assertions to; needed when an MVPD encrypts.
        public var encryptionCertificate: String?
        public var acsURL: String
        /// Where logout messages go.
        public var logoutURL: String
    }

    /// One identity provider with its decision point.
    public struct Mvpd: Sendable, Equatable {
        public var id: String
        public var displayName: String
        public var entityID: String
        /// File with the certificate that the service provider pins.
        public var certificate: String
        /// File with the private key to it.
        public var key: String
        public var signAssertion: Bool
        public var signResponse: Bool
        public var encryptAssertion: Bool
        /// Whether a request must carry a valid signature of the service provider.
        public var validateRequests: Bool
        /// Addresses of home networks that need no login, and the person of each; nil: none.
        var home: HomeNetworks.Home?
        /// Set for an OAuth 2.0 and OpenID provider.
        public var oauth: OAuthSettings?
    }

    /// The stand-in Apple.
    public struct Apple: Sendable, Equatable {
        public var listen: Listener
        /// `iss` of the identity tokens that it gives out.
        public var identityIssuer: String
        /// File with the RSA key that signs them.
        public var identityKey: String
        /// The MVPDs with platform single sign-on, by the platform's own names.
        public var providers: [String: String]
        /// Who may call Apple's servers.
        public var teams: [AppleTeamSettings] = []
        /// Repeats ids, codes and keys; nil: nothing repeats.
        public var seed: String?
    }

    public var listen: Listener
    /// Files, PEM: HTTPS at the same address; `nil`: plain HTTP alone.
    public var tls: Tls?
    /// The base of all addresses in messages, without a slash at the end.
    public var publicURL: String
    /// The base of the addresses that services call themselves, where these reach the stand-in by another name than browsers do: a signed query
    /// names it as its destination. Without a slash at the end.
    public var serviceURL: String
    /// Folder with the page templates; nil looks for `Services/Sandbox/Pages`.
    public var pages: String?
    /// `trace` … `critical`.
    public var logLevel: String
    public var serviceProvider: ServiceProvider
    public var mvpds: [Mvpd]
    /// Every channel that exists here; a person with all channels has these.
    public var channels: [String]
    public var people: [Person]
    /// Prefix, 4 to 64 characters, of subject ids that count as a subscriber with all channels: a load tool that signs as an MVPD invents people.
    /// nil: there are no such ids.
    public var visitorPrefix: String?
    /// nil: there is no stand-in Apple.
    public var apple: Apple?
    /// nil: there is no stand-in upstream.
    public var upstream: UpstreamSettings?
    /// nil: there is no identity provider for administrators.
    public var staff: StaffSettings?
    /// Whether callers of private networks have the rights of callers on this machine: for a network of containers.
    public var trustsPrivateNetworks = false
}
