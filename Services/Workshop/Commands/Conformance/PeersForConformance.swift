internal import ClusterCommands
internal import CommandKit
internal import Contracts
internal import Foundation
internal import PeerDoubles

/// The answers of the peers that the examiner plays.
enum PeersForConformance {
    /// No device is signed in unless a requirement signs it in.
    static var behaviour: DoubleBehaviour {
        var behaviour = DoubleBehaviour()
        behaviour.signedIn = .afterSignIn
        return behaviour
    }

    /// The demo catalogue; its MVPDs decide without a decision point.
    /// - Parameter home: Has the certificates that the catalogue names, in `pki`.
    static func configuration(in home: URL) throws -> Configuration {
        let template = try TextFile.read(Checkout.current.appendingPathComponent("Services/Config/demo-catalogue.json").path)
        let file = home.appendingPathComponent(".conformance-catalogue-\(UUID().uuidString).json")
        do {
            try Data(template.replacing("${SANDBOX_MVPD}", with: "http://127.0.0.1:9").utf8).write(to: file)
        } catch {
            throw CommandFailure("cannot write \(file.path)", advice: PlainReason.of(error))
        }
        defer { try? FileManager.default.removeItem(at: file) }
        return try DoubleCatalogue(file: file.path, hasDecisionPoints: false).configuration()
    }
}
