internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import MediaTokenVerifier

/// A media token in the hands of the player's backend.
enum PlayedToken {
    /// - Throws: `CommandFailure` when it is not genuine, or there are no keys to say so.
    static func verify(_ token: MediaToken, on ground: DeviceGround) async throws -> MediaTokenReport {
        try await verify(token.serialized, of: token.resource.rawValue, on: ground)
    }

    /// - Parameter token: As it was issued.
    static func verify(_ token: String, of resource: String, on ground: DeviceGround) async throws -> MediaTokenReport {
        let keys =
            if let certificates = ground.certificates {
                try MediaTokenKeys.trusted(certificates: certificates, jwks: nil)
            } else {
                try await MediaTokenKeys.trusted(by: ground.gateway, further: ground.upstreamCertificates, ground.exchange)
            }
        let verifier = MediaTokenVerifier(trustedKeys: keys)
        let check = verifier.verify(token, requestor: ground.requestor, resource: resource)
        guard check.verdict == .valid else { throw CommandFailure("the media token is not genuine: \(check.verdict.rawValue)") }
        return MediaTokenReport(check)
    }
}
