package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice support`: a viewer's sessions.
package struct SupportCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "support", abstract: "Find a viewer's sessions, and end them.", subcommands: [SupportFindCommand.self, SupportEndCommand.self])

    package init() {}
}

/// The viewer whose sessions are meant.
struct ViewerOptions: ParsableArguments {
    @Option(help: "The requestor whose app the viewer uses.", completion: .catalogue(.requestors))
    var requestor: String

    @Option(help: "The registration code on the device's screen.")
    var code: String?

    @Option(help: "The device's id, as its app sends it.")
    var device: String?

    @Option(help: "The user's id, as the MVPD or the app knows it; needs --mvpd.")
    var user: String?

    @Option(help: "Only sessions of this MVPD.", completion: .catalogue(.mvpds))
    var mvpd: String?

    func validate() throws {
        guard [code, device, user].compactMap({ $0 }).count == 1 else { throw ValidationError("Give one of --code, --device and --user.") }
        guard user == nil || mvpd != nil else { throw ValidationError("--user is an id at an MVPD: name it with --mvpd.") }
    }

    /// The body of the call.
    var question: [String: String] {
        var question = ["requestor": requestor]
        question["code"] = code
        question["device"] = device
        question["user"] = user
        question["mvpd"] = mvpd
        return question
    }
}

/// `boxoffice support find`.
struct SupportFindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "List a viewer's sessions: since when, by which way, until when.",
        discussion: "Each look-up is in the audit log. No attribute of the viewer is shown, and of a device's id only the beginning.")

    @OptionGroup var viewer: ViewerOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let answer = try await AdministrationCall.send("POST", "/support/sessions", body: try AdministrationCall.json(viewer.question))
        guard !json else { return print(answer.text) }
        for line in try ViewerAnswer(answer.body).lines { Console().line(line) }
    }
}

/// `boxoffice support end`.
struct SupportEndCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "End one of a viewer's sessions, or all of them.",
        discussion: "The viewer has to sign in again. The MVPD hears nothing of it: that takes the viewer's own browser.")

    @OptionGroup var viewer: ViewerOptions

    @Option(help: "The session's id, as 'support find' prints it.")
    var session: String?

    @Flag(help: "End all sessions that 'support find' finds with the same options.")
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (session != nil) != all else { throw ValidationError("Give either --session ID or --all.") }
    }

    func run() async throws {
        var body = viewer.question
        body["session"] = session ?? "all"
        let answer = try await AdministrationCall.send("POST", "/support/sessions/end", body: try AdministrationCall.json(body))
        guard !json else { return print(answer.text) }
        let ended = answer.object["ended"] as? Int ?? 0
        Console().line("\(ended) \(ended == 1 ? "session" : "sessions") ended")
    }
}

/// The answer of `/admin/v1/support/sessions`, as lines for a terminal.
struct ViewerAnswer: Decodable {
    struct Session: Decodable {
        let id: String
        let mvpd: String
        let way: String
        /// Milliseconds since 1970.
        let authenticatedAt: Int64
        let expiresAt: Int64
        let device: String
        let deviceType: String?
        let deviceModel: String?
        let os: String?
        let lastRefusal: Refusal?
    }

    struct Refusal: Decodable {
        let at: Int64
        let code: String
        let reason: String
    }

    struct Code: Decodable {
        let createdAt: Int64
        let expiresAt: Int64
        let used: Bool
    }

    let sessions: [Session]
    let more: Bool
    let code: Code?
    /// Absent: a gateway of an older release.
    let refusalsKnown: Bool?

    init(_ body: [UInt8]) throws { self = try JSONDecoder().decode(ViewerAnswer.self, from: Data(body)) }

    var lines: [String] {
        var lines: [String] = []
        if let code {
            lines.append("code made \(Self.moment(code.createdAt)), ends \(Self.moment(code.expiresAt)), \(code.used ? "used" : "not used yet")")
        }
        if sessions.isEmpty { lines.append("no session; those that are over are known for a day") }
        for session in sessions {
            let device = ([session.deviceType, session.deviceModel, session.os].compactMap { $0 } + ["id \(session.device)"]).joined(separator: ", ")
            lines.append(session.id)
            lines.append("  \(session.way) at \(session.mvpd) since \(Self.moment(session.authenticatedAt)), until \(Self.moment(session.expiresAt))")
            lines.append("  \(device)")
            if let refusal = session.lastRefusal { lines.append("  last no \(Self.moment(refusal.at)): \(refusal.reason) (\(refusal.code))") }
        }
        if refusalsKnown == false { lines.append("why decisions were a no is not known now: the authorization service does not tell") }
        if more { lines.append("there are more: name the MVPD, or look for the device") }
        return lines
    }

    private static func moment(_ milliseconds: Int64) -> String { Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601) }
}
