package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice support`: a viewer's sessions.
package struct SupportCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "support", abstract: "Find a viewer's sessions, and end them.", subcommands: [SupportFindCommand.self, SupportEndCommand.self])

    package init() {}
}

/// Whose sessions.
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
