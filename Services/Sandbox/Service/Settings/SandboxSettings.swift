/// What a stand-in is told: addresses, files with keys, who signs how, who lives there.
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

    /// The service provider whose requests are answered.
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
        /// Addresses at which nobody has to sign in, and who lives there; nil: none.
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
        /// The MVPDs whose people the platform signs in, by the platform's own names.
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
    /// A subject id that begins so is a subscriber with all channels, 4 to 64 characters: a load tool that signs as an MVPD invents people. nil: nobody is.
    public var visitorPrefix: String?
    /// nil: there is no stand-in Apple.
    public var apple: Apple?
    /// Whether callers of private networks may do what else only this machine may: for a network of containers.
    public var trustsPrivateNetworks = false
}
