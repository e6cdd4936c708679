internal import Clocks
internal import Contracts
public import Cryptography
internal import MediaTokenVerifier

/// Checks media tokens of upstreams before they are handed on, where the settings name the certificates (bridge §9.4).
public struct UpstreamTokenCheck: Sendable {
    /// By the upstream's id.
    private let keys: [OctetText: TrustedMediaTokenKeys]

    /// - Parameter certificates: By the upstream's id; tokens of others are not checked.
    /// - Throws: `CryptographyError` when one holds a key that cannot verify media tokens.
    public init(_ certificates: [String: [Cryptography.Certificate]] = [:]) throws(CryptographyError) {
        var keys: [OctetText: TrustedMediaTokenKeys] = [:]
        for (upstream, trusted) in certificates { keys[OctetText(upstream)] = try TrustedMediaTokenKeys(certificates: trusted) }
        self.keys = keys
    }

    /// True when the token is the upstream's, for its service provider and this resource. When it ends is upstream's affair, by its own clock.
    func accepts(_ token: String, of session: BridgedSession, resource: String, now: Timestamp) -> Bool {
        guard let keys = keys[OctetText(session.upstream)] else { return true }
        var check = MediaTokenCheck(token: token, requestor: session.serviceProvider, resource: resource)
        check.validate(trustedKeys: keys, now: now)
        if check.verdict == .expired, let facts = check.facts { check.validate(trustedKeys: keys, now: facts.issuedAt) }
        return check.verdict == .valid
    }
}

extension AuthorizationSettings {
    /// The keys with which media tokens of upstreams are checked.
    /// - Parameter path: Makes a path of the settings absolute.
    /// - Throws: `MediaTokenKeyError` naming the setting and what is wrong with its files.
    public func loadUpstreamTokenCheck(path: (String) -> String) throws(MediaTokenKeyError) -> UpstreamTokenCheck {
        var certificates: [String: [Cryptography.Certificate]] = [:]
        for (upstream, files) in verifyUpstreamTokens {
            let key = "verifyUpstreamTokens.\(upstream)"
            guard !files.isEmpty else { throw MediaTokenKeyError(key: key, problem: "must name at least one file") }
            do throws(CryptographyError) {
                var read: [Cryptography.Certificate] = []
                for file in files { read.append(try Cryptography.Certificate(pemFile: path(file))) }
                certificates[upstream] = read
                _ = try UpstreamTokenCheck([upstream: read])
            } catch {
                throw MediaTokenKeyError(key: key, problem: "names files that are of no use: \(error)")
            }
        }
        do throws(CryptographyError) {
            return try UpstreamTokenCheck(certificates)
        } catch {
            throw MediaTokenKeyError(key: "verifyUpstreamTokens", problem: "names files that are of no use: \(error)")
        }
    }
}
