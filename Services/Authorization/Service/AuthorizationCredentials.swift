public import OutboundHttp

/// What the files of the settings hold for questions to MVPDs, and for answers of upstreams.
public struct AuthorizationCredentials: Sendable {
    /// As whom MVPDs are asked in the SOAP form.
    public let identity: DecisionIdentity
    /// What decision points are shown, by the names that the catalogue's records use.
    public let clientCertificates: [String: ClientCertificate]
    public let upstreamTokens: UpstreamTokenCheck

    /// - Parameter path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyProblem` naming the setting and what is wrong with its files.
    public init(_ settings: AuthorizationSettings, path: (String) -> String) throws(MediaTokenKeyProblem) {
        identity = try DecisionIdentity(settings, path: path)
        clientCertificates = try settings.loadClientCertificates(path: path)
        upstreamTokens = try settings.loadUpstreamTokenCheck(path: path)
    }
}
