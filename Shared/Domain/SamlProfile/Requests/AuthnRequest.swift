public import Clocks

/// A request for a sign-in (mvpd §2.2). It is sent by `redirectURL` or `postForm`, always signed.
public struct AuthnRequest: Hashable, Sendable {
    /// The MVPD that a proxy is to use.
    public struct ProxiedProvider: Hashable, Sendable {
        /// `providerId`, else the MVPD's `id`.
        public var providerID: String
        /// For the proxy's screens; empty: not sent.
        public var name: String

        public init(providerID: String, name: String) {
            self.providerID = providerID
            self.name = name
        }
    }

    public var id: RequestID
    public var issuedAt: Timestamp
    /// The MVPD's single sign-on address.
    public var destination: String
    public var assertionConsumerServiceURL: String
    /// The base `spEntityId`.
    public var serviceProviderEntityID: String
    /// The requestor, or the `partnerId` that replaces it.
    public var onBehalfOf: String
    public var scopingMode: ScopingMode = .issuerSuffix
    public var forceAuthn = false
    /// A passive request asks only whether the person is signed in already, and names the service provider in `RespondTo`.
    public var isPassive = false
    /// URI; empty: persistent.
    public var nameIDFormat = ""
    /// Empty: not sent.
    public var spNameQualifier = ""
    public var allowCreate = true
    /// Set for an MVPD behind a proxy only.
    public var proxiedProvider: ProxiedProvider?

    /// - Parameters:
    ///   - id: A fresh one for each request.
    ///   - issuedAt: `IssueInstant`.
    ///   - destination: The MVPD's single sign-on address.
    ///   - assertionConsumerServiceURL: Where the response is to be posted.
    ///   - serviceProviderEntityID: The base `spEntityId`, without the requestor.
    ///   - onBehalfOf: The requestor's id, or its `partnerId`.
    public init(
        id: RequestID, issuedAt: Timestamp, destination: String, assertionConsumerServiceURL: String, serviceProviderEntityID: String,
        onBehalfOf: String
    ) {
        self.id = id
        self.issuedAt = issuedAt
        self.destination = destination
        self.assertionConsumerServiceURL = assertionConsumerServiceURL
        self.serviceProviderEntityID = serviceProviderEntityID
        self.onBehalfOf = onBehalfOf
    }

    /// The issuer as it is sent; an accepted audience of the answer.
    public var issuer: String {
        scopingMode.usesSuffix ? ServiceProviderMetadata.entityID(serviceProviderEntityID, requestor: onBehalfOf) : serviceProviderEntityID
    }

    /// The NameID format as it is sent.
    public var requestedNameIDFormat: String { nameIDFormat.isEmpty ? SamlURI.persistentFormat : nameIDFormat }
}
