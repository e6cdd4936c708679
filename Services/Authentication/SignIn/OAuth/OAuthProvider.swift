package import AuthenticationCore
package import Catalogue
package import Contracts

/// An MVPD that signs people in by OAuth 2.0, with the client that it issued to the requestor (mvpd §3).
package struct OAuthProvider: Hashable, Sendable {
    package let mvpd: Mvpd
    package let endpoint: OAuthEndpoint
    package let clientID: String
    let secretReference: SecretReference
    /// The id of the record that has the endpoint: the MVPD's own, or its proxy's.
    let holder: String

    /// An MVPD behind a proxy that has no endpoint of its own is reached at the proxy's.
    /// - Returns: `nil` for an MVPD that signs people in by another way.
    package init?(_ mvpd: Mvpd, _ integration: Integration, in catalogue: Catalogue) {
        let signIn = mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil)
        guard case .oauth(let endpoint) = signIn else { return nil }
        self.mvpd = mvpd
        self.endpoint = endpoint
        holder = mvpd.signIn == nil ? mvpd.proxyMvpdID : mvpd.id
        let own = integration.oauthClient ?? OAuthClient(clientID: endpoint.clientID, clientSecretReference: endpoint.clientSecretReference)
        clientID = own.clientID
        secretReference = SecretReference(own.clientSecretReference)
    }

    package var id: MvpdID { MvpdID(mvpd.id) }

    /// Where it sends browsers back from now on.
    /// - Parameter shared: The address that records of before share.
    package func callback(_ shared: String) -> OAuthCallback { OAuthCallback(shared: shared, holder: endpoint.callback == .own ? holder : "") }
}

extension OAuthEndpoint {
    /// The claim that is the user id.
    var userClaim: String { userIDClaim.isEmpty ? "sub" : userIDClaim }

    var clockSkew: Int64 { clockSkewSeconds == 0 ? 60 : Int64(clockSkewSeconds) }

    /// Between two reads of the key set.
    var keyRefresh: Duration { .seconds(jwksRefreshSeconds == 0 ? 3600 : Int64(jwksRefreshSeconds)) }

    /// mvpd §4.3: connect 1 s, response 3 s, all of it 5 s.
    package var connectTimeout: Duration { Self.span(connectTimeoutMilliseconds, else: 1000) }
    package var responseTimeout: Duration { Self.span(responseTimeoutMilliseconds, else: 3000) }
    var totalTimeout: Duration { Self.span(totalTimeoutMilliseconds, else: 5000) }

    private static func span(_ milliseconds: UInt32, else fallback: Int64) -> Duration {
        .milliseconds(milliseconds == 0 ? fallback : Int64(milliseconds))
    }
}
