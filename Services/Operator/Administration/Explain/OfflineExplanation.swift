internal import CatalogueFiles
internal import Clocks
internal import CommandKit
internal import Contracts
internal import Foundation
internal import SamlExplanation

/// Explains a response without a cluster: by a catalogue file, and the settings of the authentication service.
struct OfflineExplanation {
    private let explainer: SamlExplainer

    /// - Parameters:
    ///   - catalogue: Path of the catalogue file.
    ///   - settings: Path of the settings file; nil: the local cluster's, or the documented one.
    /// - Throws: `CommandFailure` when one of them cannot be used.
    init(catalogue: String, settings: String?) throws {
        let content: CatalogueFile.Content
        do {
            content = try CatalogueFile(path: catalogue).read(now: SystemClock().now())
        } catch {
            // The first line says how many there are.
            let problems = error.lines.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
            throw CommandFailure("\(catalogue) cannot be used", advice: problems.joined(separator: "; "), exit: .usage)
        }
        let file = try settings ?? Self.settings()
        guard let object = try JSONSerialization.jsonObject(with: Data(TextFile.read(file).utf8)) as? [String: Any],
            let own = object["authentication"] as? [String: Any], let entityID = own["spEntityID"] as? String,
            let address = own["acsURL"] as? String
        else { throw CommandFailure("\(file) does not hold the settings of the authentication service", advice: "pass --settings FILE") }
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        let key = (own["encryptionKey"] as? String).map { URL(fileURLWithPath: $0, relativeTo: folder).path }
        // Without the key only messages that are not encrypted can be explained.
        let pem = key.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        explainer = try SamlExplainer(
            configuration: content.configuration, entityID: entityID, assertionConsumerServiceURL: address, decryptionKey: pem)
    }

    func explain(_ request: ExplainResponseRequest) throws -> ExplainedSignIn {
        ExplainedSignIn(try explainer.explain(request))
    }

    private static func settings() throws -> String {
        let checkout = Checkout.current
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: checkout)
        let own = home.settings(of: .authentication).path
        if FileManager.default.fileExists(atPath: own) { return own }
        return checkout.appendingPathComponent("Services/Authentication/config.json").path
    }
}
