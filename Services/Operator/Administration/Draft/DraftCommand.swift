package import ArgumentParser
internal import CatalogueFiles
internal import CommandKit
internal import Contracts

/// `boxoffice draft`: what has been changed and not been pushed.
package struct DraftCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "draft", abstract: "Show, push or dismiss what has been changed and is not live yet.",
        discussion: """
            Commands that change the catalogue put their changes into the draft of the administrator of cluster.json. The console shows the same draft to \
            whoever signs in with that token.
            """,
        subcommands: [DraftShowCommand.self, DraftPushCommand.self, DraftDismissCommand.self, DraftDropCommand.self],
        defaultSubcommand: DraftShowCommand.self)

    package init() {}
}

/// `boxoffice draft show`.
struct DraftShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "List each change of the draft.")

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let answer = try await AdministrationCall.send("GET", "/draft")
        guard !json else { return try JsonOutput.show(answer.object) }
        let (draft, console) = (OpenDraft(answer), Console())
        guard !draft.changes.isEmpty else { return console.line("The draft is empty; version \(draft.baseVersion) is the newest.") }
        console.line("\(draft.counted) to version \(draft.baseVersion):")
        for change in draft.changes { console.line("    \(change.text)") }
        console.line("'boxoffice draft push' makes them live; 'boxoffice draft drop ENTRY' takes an entry out.")
    }
}

/// `boxoffice draft push`.
struct DraftPushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Make the draft live, with everything in it.",
        discussion: "It lists what it pushes. Every service has it within a second. Where pushes need a second person, it waits for one.")

    @Argument(help: "What the push is for, for the history. Default: the entries that it changes.")
    var description: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let (draft, console) = (try await OpenDraft.read(), Console(isQuiet: json))
        guard !draft.changes.isEmpty else {
            throw CommandFailure("the draft is empty", advice: "a command that changes the catalogue fills it, such as 'boxoffice mvpd add'")
        }
        for line in OpenDraft.lines(draft.changes) { console.line(line) }
        let pushed = try await draft.push(description ?? draft.description)
        console.line(pushed.line)
        guard json else { return }
        var members: [String: Any] = ["push": pushed.word, "changeCount": draft.changes.count]
        members["version"] = pushed.version
        try JsonOutput.show(members)
    }
}

/// `boxoffice draft dismiss`.
struct DraftDismissCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss", abstract: "Forget the draft, with everything in it.",
        discussion: "It lists what it forgets, and asks on a terminal. What is live stays as it is.")

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let (draft, console) = (try await OpenDraft.read(), Console(isQuiet: json))
        if draft.changes.isEmpty {
            console.line("The draft is empty.")
        } else {
            for line in OpenDraft.lines(draft.changes) { console.line(line) }
            guard yes || json || Question.agrees("Forget \(draft.counted)?") else {
                throw CommandFailure("nothing is forgotten", advice: "'boxoffice draft drop ENTRY' takes one entry out", exit: .cancelled)
            }
            _ = try await AdministrationCall.send("DELETE", "/draft")
            console.line("The draft is empty now.")
        }
        if json { try JsonOutput.show(["dismissed": draft.changes.count]) }
    }
}

/// `boxoffice draft drop ENTRY`.
struct DraftDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Take entries out of the draft: they are as they are live.",
        discussion: "An entry is named as 'boxoffice draft show' does, mvpds/NewCable, or by its id alone. All that are named are taken out, or none."
    )

    @Argument(help: "An entry that the draft changes, such as mvpds/NewCable or NewCable; several may be named.")
    var entries: [String]

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let draft = try await OpenDraft.read()
        let places = try entries.map { try draft.place(named: $0) }
        let left = try await DraftEdit.together { (edit: inout DraftEdit) async throws -> OpenDraft in
            for place in places { _ = try await edit.read(place) }
            return try await draft.without(Set(places))
        }
        guard !json else { return try JsonOutput.show(["dropped": places.map(\.description), "changeCount": left.changes.count]) }
        let console = Console()
        for place in places { console.line("\(place) is out of the draft") }
        console.line(left.changes.isEmpty ? "The draft is empty now." : "\(left.counted) left; 'boxoffice draft show' lists what stays.")
    }
}

extension OpenDraft {
    /// `1 change`, `3 changes`.
    var counted: String { "\(changes.count) \(changes.count == 1 ? "change" : "changes")" }

    /// Drops every change of the entries.
    /// - Returns: The changes that are left.
    /// - Throws: `CommandFailure` when one of them has to stay, with what refers to it.
    fileprivate func without(_ places: Set<EntityKey>) async throws -> OpenDraft {
        var draft = self
        while true {
            let mine = draft.changes.filter { change in change.place.map { places.contains($0) } ?? false }
            guard let last = mine.last else { return draft }
            var (without, refusal): (OpenDraft?, (any Error)?) = (nil, nil)
            // An entry that refers to another stands after it, and goes before it. Some properties of one entry go together with others only.
            for change in mine.reversed() where without == nil {
                do {
                    without = OpenDraft(try await AdministrationCall.send("DELETE", "/draft/changes/\(change.number)", ifMatch: draft.etag))
                } catch {
                    refusal = refusal ?? error
                }
            }
            guard let next = without else { throw draft.explain(refusal, last.place, besides: places) }
            draft = next
        }
    }

    private func explain(_ refusal: (any Error)?, _ place: EntityKey?, besides places: Set<EntityKey>) -> CommandFailure {
        let reason = refusal.map { PlainReason.of($0) } ?? "it is refused"
        let ids = places.map(\.id)
        let referring = self.places.filter { other in
            other.section == .integrations && !places.contains(other) && other.id.split(separator: "/").contains { ids.contains(String($0)) }
        }
        return CommandFailure(
            "\(place.map { "\($0)" } ?? "the entry") stays in the draft (\(reason))",
            advice: referring.isEmpty
                ? "'boxoffice draft dismiss' forgets the whole draft" : "drop \(referring.map(\.description).joined(separator: " ")) too")
    }
}
