public import ArgumentParser

/// `boxoffice explain`: what became of a sign-in, whichever way it went.
public struct ExplainCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show each step of a sign-in by its trace id: passed, failed or not reached, and what to change.",
        discussion: """
            By SAML, by OAuth, or through an upstream. The person's page shows the trace id, and so does the log. A sign-in through an upstream is found by \
            the trace of its beginning and by that of its end. No personal data is shown. The exit code is 0 when the person was signed in.
            """)

    @Argument(help: "The trace id: 32 hex digits.")
    var trace: String

    @Flag(help: "Print JSON.")
    var json = false

    public init() {}

    public func validate() throws {
        guard trace.count == 32, trace.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { throw ValidationError("A trace id has 32 hex digits.") }
    }

    public func run() async throws {
        let explained = try await RunningCluster.ask { try await $0.report(trace: trace.lowercased()) }
        print(try explained.text(asJSON: json, Console()))
        guard explained.result == "signedIn" else { throw CommandExit.failed.exitCode }
    }
}
