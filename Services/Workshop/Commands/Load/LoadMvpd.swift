internal import CommandKit
internal import Cryptography
internal import Foundation
internal import SamlResponder

/// The stand-in MVPD of a local cluster, as a load tool plays it.
enum LoadMvpd {
    /// - Parameters:
    ///   - id: Of the stand-in's, for example `NorthCable`.
    ///   - pki: The local cluster's keys: the tool signs as the MVPD.
    /// - Throws: `CommandFailure` when the key is not there.
    static func play(_ id: String, of cluster: ClusterFile, pki: URL) throws -> PlayedMvpd {
        let file = pki.appendingPathComponent("sandbox-\(id.lowercased()).key").path
        do {
            return PlayedMvpd(entityID: "\(origin(of: cluster))/saml/\(id)/metadata", key: try RSAPrivateKey(pemFile: file))
        } catch {
            throw CommandFailure(
                "cannot sign as \(id): \(file): \(PlainReason.of(error))", advice: "people sign in only with the keys of a local cluster")
        }
    }

    /// Where the stand-in is for browsers, and under which it is known: of a cluster that is open to its network, the machine's address there.
    private static func origin(of cluster: ClusterFile) -> String {
        guard let lan = cluster.lan, let port = URLComponents(string: cluster.sandbox.mvpd)?.port else { return cluster.sandbox.mvpd }
        return "https://\(lan):\(port)"
    }

    /// A person that the stand-in MVPD's decision point accepts by the prefix of the name (its setting `visitorPrefix`).
    static func person(_ name: String) -> PlayedMvpd.Subscriber {
        PlayedMvpd.Subscriber(nameID: "load-user-\(name)", householdID: "load-house-\(name)", channels: ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
    }
}
