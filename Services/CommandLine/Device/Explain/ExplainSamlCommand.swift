public import ArgumentParser
internal import Contracts
internal import Foundation

/// `boxoffice explain-saml`: why a sign-in failed.
public struct ExplainSamlCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "explain-saml",
        abstract: "Show each check of a sign-in: passed, failed or not checked as another failed, and what to change.",
        discussion: """
            Of a trace id, as the person's page shows it, the running cluster tells what became of that sign-in. Of a file with the response \
            (XML, base64 or the posted form) it tells what it would make of it: --mvpd names the sender. Without a cluster, --catalogue FILE \
            gives the MVPD's record and --settings FILE the settings of the authentication service. No personal data is shown. The exit code is \
            0 when every check passed.
            """
    )

    @Argument(help: "A trace id (32 hex digits), or a file with a response; '-' reads one from standard input.")
    var subject: String

    @Option(help: "The MVPD that sent the response.")
    var mvpd: String?

    @Option(help: "The requestor that the sign-in was for; without it, whichever the audience names.")
    var requestor: String?

    @Option(help: "When the response arrived (2031-03-04T10:00:00Z); without it, when it says that it was issued.")
    var at: String?

    @Option(help: "The ID of the request that it has to answer; without it, that is not checked.")
    var requestID: String?

    @Option(help: "A catalogue file to take the MVPD from, instead of the running cluster.")
    var catalogue: String?

    @Option(help: "With --catalogue: the authentication service's settings file; without it, that of $BOXOFFICE_HOME.")
    var settings: String?

    @Flag(help: "Print JSON.")
    var json = false

    public init() {}

    public func run() async throws {
        let explained = try await explained()
        print(try explained.text(asJSON: json, Console()))
        guard explained.result == "signedIn" else { throw CommandExit.failed.exitCode }
    }

    private func explained() async throws -> ExplainedSignIn {
        guard let message = try message() else {
            guard Self.isTrace(subject) else {
                throw CommandFailure("\(subject) is neither a file nor a trace id", advice: "a trace id has 32 hex digits")
            }
            return try await RunningCluster.ask { try await $0.report(trace: subject.lowercased()) }
        }
        guard let mvpd else { throw CommandFailure("who sent the response is not known", advice: "pass --mvpd ID") }
        let request = ExplainResponseRequest(
            samlResponse: message, mvpd: mvpd, requestor: requestor ?? "", atMilliseconds: try moment(), requestID: requestID ?? "")
        if let catalogue { return try OfflineExplanation(catalogue: catalogue, settings: settings).explain(request) }
        return try await RunningCluster.ask { try await $0.explanation(of: request) }
    }

    /// Nil when the subject is no file.
    private func message() throws -> String? {
        if subject == "-" { return HeldMessage.encoded(String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)) }
        guard FileManager.default.fileExists(atPath: subject) else { return nil }
        return HeldMessage.encoded(try TextFile.read(subject))
    }

    private func moment() throws -> UInt64 {
        guard let at else { return 0 }
        guard let date = try? Date(at, strategy: .iso8601), date.timeIntervalSince1970 > 0 else {
            throw CommandFailure("--at \(at) is not a time", advice: "write it as 2031-03-04T10:00:00Z")
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
