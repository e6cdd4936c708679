package import ArgumentParser
internal import CatalogueFiles
internal import Clocks
internal import CommandKit
internal import Contracts
internal import Foundation
internal import SamlExplanation
internal import TextEncodings

/// `boxoffice explain`: why a sign-in went as it did, whichever way it went.
package struct ExplainCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a sign-in failed, and what to change; without a trace id, list the latest failures.",
        discussion: """
            By SAML, by OAuth, or through an upstream. The person's page shows the trace id, and so do the log and 'boxoffice device'. A sign-in through \
            an upstream is found by the trace of its beginning and by that of its end. --last takes the latest failure. The checks that failed come \
            first; --all shows the others too.

            Of a file with a SAML response (XML, base64 or the posted form) it tells what the cluster would make of it: --mvpd names the sender. \
            Without a cluster, --catalogue FILE gives the MVPD's record and --settings FILE the settings of the authentication service.

            No personal data is shown. The exit code is 0 when the person was signed in, and of a list.
            """,
        aliases: ["explain-saml"])

    @Argument(help: "A trace id (32 hex digits), or a file with a SAML response; '-' reads one from standard input.", completion: .file())
    var subject: String?

    @Flag(help: "Explain the latest sign-in that failed.")
    var last = false

    @Flag(help: "Show the checks that passed or were not made, too.")
    var all = false

    @Option(help: "The MVPD that sent the response; without a trace id or a file, only failures at this MVPD.", completion: .catalogue(.mvpds))
    var mvpd: String?

    @Option(
        help: "Of a response: the requestor that the sign-in was for; default: whichever the audience names.", completion: .catalogue(.requestors))
    var requestor: String?

    @Option(help: "Of a response: when it arrived (2031-03-04T10:00:00Z); default: when it says that it was issued.")
    var at: String?

    @Option(help: "Of a response: the ID of the request that it has to answer; default: that is not checked.")
    var requestID: String?

    @Option(help: "Of a response: a catalogue file to take the MVPD from, instead of the running cluster.", completion: .file())
    var catalogue: String?

    @Option(help: "With --catalogue: the authentication service's settings file; default: that of $BOXOFFICE_HOME.", completion: .file())
    var settings: String?

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func validate() throws {
        guard !last || subject == nil else { throw ValidationError("--last stands for the trace id: give one of the two.") }
        guard settings == nil || catalogue != nil else { throw ValidationError("--settings goes with --catalogue.") }
        guard subject != nil || (requestor == nil && at == nil && requestID == nil && catalogue == nil) else {
            throw ValidationError("--requestor, --at, --request-id and --catalogue are about a response: name its file.")
        }
    }

    package func run() async throws {
        if subject == nil, !last { return try await list() }
        let explained = try await explained()
        print(try explained.text(asJSON: json, showsAll: all, Console()))
        guard explained.result == "signedIn" else { throw CommandExit.failed.exitCode }
    }

    private func list() async throws {
        let answer = try await RunningCluster.ask { try await $0.failures(at: mvpd) }
        print(json ? answer.text : try FailedSignIns(answer.body).lines(mvpd: mvpd).joined(separator: "\n"))
    }

    private func explained() async throws -> ExplainedSignIn {
        guard let subject else { return try await latest() }
        guard let message = try message(subject) else {
            guard Self.isTrace(subject) else {
                throw CommandFailure("'\(subject)' is neither a file nor a trace id", advice: "a trace id has 32 hex digits", exit: .usage)
            }
            return try await RunningCluster.ask { try await $0.report(trace: subject.lowercased()) }
        }
        guard let mvpd else { throw CommandFailure("who sent the response is not known", advice: "pass --mvpd ID", exit: .usage) }
        let request = ExplainResponseRequest(
            samlResponse: message, mvpd: mvpd, requestor: requestor ?? "", atMilliseconds: try moment(), requestID: requestID ?? "")
        if let catalogue { return try OfflineExplanation(catalogue: catalogue, settings: settings).explain(request) }
        return try await RunningCluster.ask(advice: "pass --catalogue FILE") { try await $0.explanation(of: request) }
    }

    private func latest() async throws -> ExplainedSignIn {
        let answer = try await RunningCluster.ask { try await $0.failures(at: mvpd) }
        guard let trace = try FailedSignIns(answer.body).signIns.compactMap(\.trace).first else {
            throw CommandFailure(FailedSignIns.none(mvpd), advice: "'boxoffice explain TRACE-ID' explains one that succeeded")
        }
        return try await RunningCluster.ask { try await $0.report(trace: trace) }
    }

    /// Nil when the subject is no file.
    private func message(_ subject: String) throws -> String? {
        if subject == "-" { return HeldMessage.encoded(String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)) }
        guard FileManager.default.fileExists(atPath: subject) else { return nil }
        return HeldMessage.encoded(try TextFile.read(subject))
    }

    private func moment() throws -> UInt64 {
        guard let at else { return 0 }
        guard let date = try? Date(at, strategy: .iso8601), (0..<253_402_300_800).contains(date.timeIntervalSince1970) else {
            throw CommandFailure("--at '\(at)' is not a time", advice: "write it as 2031-03-04T10:00:00Z", exit: .usage)
        }
        return UInt64(date.timeIntervalSince1970 * 1000)
    }

    private static func isTrace(_ text: String) -> Bool { text.count == 32 && text.allSatisfy { $0.isASCII && $0.isHexDigit } }
}

/// A SAML response as an engineer gets hold of one: XML, base64, or the body of the form that a browser posted.
enum HeldMessage {
    /// - Returns: The value of the `SAMLResponse` field.
    static func encoded(_ content: String) -> String {
        let text = content.trimmingCharacters(in: .whitespacesAndNewlines)
        if text.hasPrefix("<") || text.hasPrefix("\u{FEFF}") { return Data(content.utf8).base64EncodedString() }
        if let field = text.split(separator: "&").first(where: { $0.hasPrefix("SAMLResponse=") }) {
            let value = field.dropFirst("SAMLResponse=".count).replacingOccurrences(of: "+", with: " ")
            return value.removingPercentEncoding ?? value
        }
        // Mail and terminals break lines, and browsers show the field percent-encoded.
        let value = text.contains("%") ? text.removingPercentEncoding ?? text : text
        return value.components(separatedBy: .newlines).joined()
    }
}

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

/// The administration API of the local cluster, as far as it explains sign-ins.
struct RunningCluster {
    let exchange: HTTPExchange
    let cluster: ClusterFile

    /// - Parameter advice: For whoever has no cluster, beside starting one.
    static func ask<Answer>(advice: String = "set BOXOFFICE_HOME", _ question: (RunningCluster) async throws -> Answer) async throws -> Answer {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home, advice: advice)
        return try await HTTPExchange.once(trusting: cluster.authority) { try await question(RunningCluster(exchange: $0, cluster: cluster)) }
    }

    func report(trace: String) async throws -> ExplainedSignIn {
        try read(try await exchange.send("GET", "\(cluster.administration)/admin/v1/sign-ins/\(trace)", headers: [bearer]))
    }

    /// The sign-ins that failed, the latest first.
    /// - Parameter mvpd: Only at this one; `nil`: at all.
    func failures(at mvpd: String?) async throws -> HTTPAnswer {
        let query = FormEncoding.encode([("failed", "true")] + (mvpd.map { [("mvpd", $0)] } ?? []))
        let answer = try await exchange.send("GET", "\(cluster.administration)/admin/v1/sign-ins?\(query)", headers: [bearer])
        guard answer.status == 200 else { throw refusal(answer) }
        return answer
    }

    func explanation(of request: ExplainResponseRequest) async throws -> ExplainedSignIn {
        var body: [String: Any] = ["samlResponse": request.samlResponse, "mvpd": request.mvpd]
        if !request.requestor.isEmpty { body["requestor"] = request.requestor }
        if !request.requestID.isEmpty { body["requestId"] = request.requestID }
        if request.atMilliseconds != 0 { body["at"] = Int64(clamping: request.atMilliseconds) }
        let content = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let url = "\(cluster.administration)/admin/v1/saml/explanation"
        return try read(try await exchange.send("POST", url, headers: [bearer, ("Content-Type", "application/json")], body: content))
    }

    private var bearer: (String, String) { ("Authorization", "Bearer \(cluster.adminToken)") }

    private func read(_ answer: HTTPAnswer) throws -> ExplainedSignIn {
        guard answer.status == 200 else { throw refusal(answer) }
        return try JSONDecoder().decode(ExplainedSignIn.self, from: Data(answer.body))
    }

    private func refusal(_ answer: HTTPAnswer) -> CommandFailure {
        let message = (answer.object["error"] as? [String: Any])?["message"] as? String
        return CommandFailure(message ?? "the cluster answered \(answer.status)", advice: answer.status == 404 ? Self.forgotten : nil)
    }

    private static let forgotten =
        "the latest sign-ins are remembered, and none from before a restart; 'boxoffice explain' lists those that failed"
}
