internal import CatalogueFiles
internal import CommandKit
internal import Contracts
internal import Foundation
internal import LoadReporting
internal import TextEncodings

/// The changes that have not been pushed, as the administration API tells them.
struct OpenDraft: Sendable {
    /// The result of a push.
    enum Pushed: Equatable, Sendable {
        case version(Int)
        /// For a second person's approval.
        case waits
        /// There was nothing to push.
        case isLive
    }

    /// The version that the changes are made to; the newest one without changes.
    let baseVersion: Int
    let changes: [CatalogueChange]
    /// As `If-Match` takes it; `nil` without changes.
    let etag: String?

    init(_ answer: HTTPAnswer) {
        let object = answer.object
        baseVersion = object["baseVersion"] as? Int ?? 0
        changes = Self.changes(object["changes"])
        etag = answer.header("etag")
    }

    /// - Throws: `CommandFailure`.
    static func read() async throws -> OpenDraft { OpenDraft(try await AdministrationCall.send("GET", "/draft")) }

    /// For commands that push all that they find in the draft.
    /// - Throws: `CommandFailure` where it holds something.
    static func requireEmpty() async throws {
        let draft = try await read()
        guard draft.changes.isEmpty else {
            throw CommandFailure(
                "your draft holds \(draft.counted)", advice: "'boxoffice draft push' or 'boxoffice draft dismiss' first: all of it is pushed",
                exit: .usage)
        }
    }

    /// - Parameter list: Changes as the API tells them.
    static func changes(_ list: Any?) -> [CatalogueChange] { (list as? [[String: Any]] ?? []).map(change) }

    private static func change(_ line: [String: Any]) -> CatalogueChange {
        let section = CatalogueSection.allCases.first { $0.rawValue == "\(line["type"] as? String ?? "")s" }
        let operation: ChangeOperation =
            switch line["operation"] as? String {
            case "add": .add
            case "remove": .remove
            case "replace": .replace
            default: .unknown
            }
        return CatalogueChange(
            number: UInt32(clamping: line["number"] as? Int ?? 0), kind: section?.kind ?? .unknown, entityID: line["id"] as? String ?? "",
            property: line["property"] as? String ?? "", operation: operation, oldJson: text(line["old"]), newJson: text(line["new"]))
    }

    private static func text(_ value: Any?) -> String {
        guard let value, !(value is NSNull),
            let data = try? JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes])
        else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// The entries that it changes, each once.
    var places: [EntityKey] {
        var places: [EntityKey] = []
        for place in changes.compactMap(\.place) where places.last != place { places.append(place) }
        return places
    }

    func others(than made: Set<EntityKey>) -> [CatalogueChange] {
        changes.filter { change in change.place.map { !made.contains($0) } ?? true }
    }

    /// At most so many lines are listed beside something else.
    private static let most = 50

    static func lines(_ changes: [CatalogueChange]) -> [String] {
        let left = changes.count - min(changes.count, most)
        return changes.prefix(most).map { "    \($0.text)" } + (left > 0 ? ["    and \(left) more"] : [])
    }

    /// - Parameter name: `mvpds/NewCable`, or the id alone where one entry has it.
    /// - Throws: `CommandFailure` when no entry is called so, or several are.
    func place(named name: String) throws -> EntityKey {
        let places = places
        if let whole = places.first(where: { $0.description == name }) { return whole }
        let called = places.filter { $0.id == name }
        guard let found = called.first else {
            let known = places.prefix(10).map(\.description).joined(separator: ", ")
            throw CommandFailure(
                "the draft changes nothing that is called '\(name)'", advice: places.isEmpty ? "it is empty" : "it changes \(known)", exit: .usage)
        }
        guard called.count == 1 else {
            throw CommandFailure(
                "the draft changes several entries that are called '\(name)'",
                advice: "name one of them: \(called.map(\.description).joined(separator: ", "))", exit: .usage)
        }
        return found
    }

    /// True when what is live has a value in a list of an entry: `nil` where the draft leaves the list as it is.
    /// - Parameters:
    ///   - property: The list.
    ///   - value: The value in one of its elements.
    func isLive(_ value: String, in property: String, of place: EntityKey) -> Bool? {
        guard let change = changes.first(where: { $0.place == place && ($0.property.isEmpty || $0.property == property) }) else { return nil }
        return change.oldJson.contains("\"\(value)\"")
    }
}

extension OpenDraft {
    /// The name of a push when nobody gives one: the entries that it changes.
    var description: String {
        let named = places.map(\.description)
        return named.prefix(5).joined(separator: ", ") + (named.count > 5 ? " and \(named.count - 5) more" : "")
    }

    /// Pushes the draft as it was read: what is put into it meanwhile is not pushed unseen. Returns once the programs of the cluster have it.
    /// - Throws: `CommandFailure` with what is in the way.
    func push(_ description: String) async throws -> Pushed {
        guard !changes.isEmpty else { return .isLive }
        let body = try AdministrationCall.json(["description": description])
        let answer = try await AdministrationCall.attempt("POST", "/draft/push", body: body, ifMatch: etag)
        switch answer.status {
        case 409:
            let conflicts = Self.changes((answer.object["error"] as? [String: Any])?["conflicts"])
            throw CommandFailure(
                (["nothing is pushed, as somebody has pushed other values meanwhile"] + Self.lines(conflicts)).joined(separator: "\n"),
                advice: "'boxoffice draft drop ENTRY' takes an entry out of the draft; make that change anew")
        case 412:
            throw CommandFailure("nothing is pushed, as the draft was changed meanwhile", advice: "'boxoffice draft show' lists what it holds now")
        default:
            guard let version = try AdministrationCall.success(of: answer).object["version"] as? Int else { return .waits }
            await CatalogueArrival.wait(for: version)
            return .version(version)
        }
    }

    /// Pushes what a command has made. The draft's other changes go with it: they are listed, and on a terminal the person is asked.
    /// - Parameters:
    ///   - made: The command's own entries.
    ///   - asks: False where a program reads the output.
    /// - Throws: `CommandFailure`; `cancelled` when the person says no.
    static func push(_ made: Set<EntityKey>, _ description: String, _ console: Console, asks: Bool) async throws -> Pushed {
        let draft = try await read()
        let others = draft.others(than: made)
        guard others.count < draft.changes.count else { return .isLive }
        if !others.isEmpty {
            console.line("The draft holds more, which is pushed too:")
            for line in lines(others) { console.line(line) }
            guard !asks || Question.agrees("Push all of it?") else {
                throw CommandFailure(
                    "nothing is pushed; the draft keeps it", advice: "'boxoffice draft drop ENTRY' takes an entry out, 'boxoffice draft push' pushes",
                    exit: .cancelled)
            }
        }
        return try await draft.push(description)
    }
}

extension OpenDraft.Pushed {
    /// For programs.
    var word: String {
        switch self {
        case .version: "pushed"
        case .waits: "waits"
        case .isLive: "live"
        }
    }

    var line: String {
        switch self {
        case .version(let version): "Pushed as version \(version)."
        case .waits: "The push waits for a second person's approval."
        case .isLive: "There is nothing to push: it is live already."
        }
    }

    var version: Int? {
        if case .version(let version) = self { version } else { nil }
    }
}

extension EntityKey {
    /// The path of its collection below `/admin/v1`.
    var collection: String {
        switch section {
        case .platformIdentityIssuers: "/platform-identity-issuers"
        case .serviceTokenIssuers: "/service-token-issuers"
        case .programmers, .requestors, .mvpds, .integrations, .applications, .upstreams: "/\(section.rawValue)"
        }
    }

    /// Its own path there.
    var path: String {
        let parts: [String] =
            switch section {
            case .integrations: id.split(separator: "/", maxSplits: 1).map(String.init)
            // An issuer is a URL, and no segment holds a slash (RFC 6901 §3).
            case .platformIdentityIssuers, .serviceTokenIssuers: [id.replacing("~", with: "~0").replacing("/", with: "~1")]
            case .programmers, .requestors, .mvpds, .applications, .upstreams: [id]
            }
        return ([collection] + parts.map { FormEncoding.encode($0) }).joined(separator: "/")
    }
}

extension CatalogueChange {
    /// `nil`: it is of a kind that this program does not know.
    var place: EntityKey? { CatalogueSection(kind).map { EntityKey($0, entityID) } }
}

/// Waits until the programs of the cluster work with a version of the catalogue.
enum CatalogueArrival {
    /// Waits until all programs that tell do so, at most 3 s: the next command may need the version.
    static func wait(for version: Int) async {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        guard let cluster = try? ClusterFile.required(home) else { return }
        let programs = cluster.services.values.flatMap { entry in [entry] + (entry.copies ?? []) }.compactMap(\.debug)
        try? await HTTPExchange.once { exchange in
            var exchange = exchange
            exchange.timeout = .seconds(1)
            let end = ContinuousClock.now + .seconds(3)
            for program in programs {
                while ContinuousClock.now < end {
                    guard let answer = try? await exchange.send("GET", "http://\(program)/metrics"), isBehind(answer.text, version) else { break }
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    /// - Parameter metrics: The metrics of a program; where they do not tell a version, nobody waits for it.
    static func isBehind(_ metrics: String, _ version: Int) -> Bool {
        let sample = PrometheusText(metrics).samples.first {
            $0.name == "boxoffice_catalogue_version" || $0.name == "boxoffice_config_catalogue_version"
        }
        return sample.map { $0.value < Double(version) } ?? false
    }
}
