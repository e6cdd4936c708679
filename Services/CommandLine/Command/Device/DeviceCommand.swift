public import ArgumentParser
internal import Foundation

/// `boxoffice device`: a simulated TV against a running cluster.
public struct DeviceCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Play a TV: show a registration code, wait for the sign-in, authorize a channel, verify its media token.",
        discussion: """
            Without --as the code is shown with a QR code, and you sign in yourself on the second screen. With --as a simulated person of \
            the sandbox does it. With --platform-sso an Apple TV signs in by its own framework, without a code. With --apple-account the \
            first device of an Apple Account puts a value on it after its sign-in, and further ones sign in by that value. \
            Exit code 0 when the media token was verified.
            """
    )

    @Option(help: "Base URL of the gateway; default: that of the local cluster.")
    var gateway: String?

    @Option(help: "The channel's brand.")
    var requestor = "ACME1"

    @Option(help: "What to watch.")
    var resource = "ACME1-NEWS"

    @Option(name: [.customLong("as"), .customLong("person")], help: "The sandbox's person who signs in: ada, ben, cleo, dan or eve.")
    var person: String?

    @Flag(
        name: .customLong("platform-sso"), help: "Sign in by the Apple TV's own framework, as the sandbox plays it; the person is ada unless named.")
    var usesPlatform = false

    @Option(
        name: .customLong("apple-account"),
        help: "The device's Apple Account, any name: looks for the app's value there and signs in by it; else signs in and offers automatic sign-in.")
    var appleAccount: String?

    @Flag(
        name: .customLong("opt-in"), inversion: .prefixedNo,
        help: "With --apple-account: whether the person wants automatic sign-in; default: you are asked, a simulated person wants it.")
    var optIn: Bool?

    @Flag(
        name: .customLong("sign-out-everywhere"),
        help: "With --apple-account: turn automatic sign-in off on all devices of the person who signs in here, and watch nothing.")
    var signsOutEverywhere = false

    @Option(name: .customLong("bundle-id"), help: "The app's bundle id at Apple; default: that of the requestor's app in the demo catalogue.")
    var bundleID: String?

    @Option(help: "The MVPD where that person signs in.")
    var mvpd = "NorthCable"

    @Option(help: "The device's id; default: a new one.")
    var deviceID: String?

    @Option(help: "Software statement, or a file that holds it; default: that of the requestor's application in the local cluster.")
    var statement: String?

    @Option(help: "Certificates that verify the media token, PEM file; default: the gateway's.")
    var certificate: String?

    @Option(help: "Seconds between two polls, 1 to 60.")
    var poll: Double = 3

    public init() {}

    public func validate() throws {
        guard (1...60).contains(poll) else { throw ValidationError("--poll takes 1 to 60 seconds") }
        guard appleAccount?.isEmpty != true else { throw ValidationError("--apple-account takes a name") }
        guard appleAccount != nil || (optIn == nil && !signsOutEverywhere && bundleID == nil) else {
            throw ValidationError("--opt-in, --sign-out-everywhere and --bundle-id go with --apple-account")
        }
    }

    public func run() async throws {
        let cluster = try ClusterFile.read(ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current))
        guard let gateway = gateway ?? cluster?.gateway else {
            throw CommandFailure("no cluster runs here", advice: "start one with ./Services/up, or name a gateway with --gateway URL")
        }
        let client = HTTPExchange.makeClient()
        let session = DeviceSession(
            console: Console(), exchange: HTTPExchange(client: client), gateway: gateway, requestor: requestor, resource: resource,
            viewer: try viewer(cluster),
            pollInterval: person == nil ? .seconds(poll) : .milliseconds(200),
            certificates: try certificate.map(TextFile.read), appleAccount: try appleAccountUse(cluster))
        let outcome: Result<Void, any Error>
        do {
            try await session.play(statement: try await softwareStatement(cluster), deviceID: deviceID ?? UUID().uuidString)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        try outcome.get()
    }

    private func viewer(_ cluster: ClusterFile?) throws -> DeviceSession.Viewer {
        guard usesPlatform else { return person.map { .simulated(name: $0, mvpd: mvpd) } ?? .person }
        return .platform(person: person ?? "ada", apple: try standIn(cluster))
    }

    private func appleAccountUse(_ cluster: ClusterFile?) throws -> DeviceSession.AppleAccountUse? {
        guard let appleAccount else { return nil }
        let isSimulated = person != nil || usesPlatform
        let answer: AutomaticSignIn.OptIn = optIn.map { $0 ? .approves : .dismisses } ?? (isSimulated ? .approves : .asks)
        return DeviceSession.AppleAccountUse(
            name: appleAccount, address: try standIn(cluster), bundleID: bundleID ?? (isOfBravo ? "example.bravo.tv" : "example.acme.tv"),
            optIn: answer, endsEverything: signsOutEverywhere)
    }

    private func standIn(_ cluster: ClusterFile?) throws -> String {
        guard let apple = cluster?.sandbox.apple else {
            throw CommandFailure("no cluster runs here, and so no stand-in Apple", advice: "start one with ./Services/up")
        }
        return apple
    }

    private var isOfBravo: Bool { requestor.hasPrefix("BRAVO") }

    private func softwareStatement(_ cluster: ClusterFile?) async throws -> String {
        if let statement {
            let text = FileManager.default.fileExists(atPath: statement) ? try TextFile.read(statement) : statement
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        var statements = cluster?.softwareStatements ?? [:]
        // Whoever wrote the file could not ask for them yet.
        if let cluster, statements.isEmpty { statements = try await SoftwareStatements(cluster).fetch() }
        guard let found = statements[isOfBravo ? "bravo-tv" : "acme-tv"] ?? statements.first?.value else {
            throw CommandFailure("there is no software statement for \(requestor)", advice: "pass --statement JWT or a file that holds it")
        }
        return found
    }
}

/// Reads a file that a person named.
enum TextFile {
    static func read(_ path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw CommandFailure("cannot read \(path)", advice: error.localizedDescription)
        }
    }
}
