internal import CatalogueFiles
internal import Clocks
internal import CommandKit
internal import Cryptography
internal import Foundation
internal import StrictJson

/// Catalogue files that say together what is wanted. A file may have some of the lists, and a list some of the entries.
struct WantedCatalogue {
    struct Entry {
        let key: EntityKey
        let tree: JsonTree
        let file: String
    }

    private(set) var entries: [Entry] = []
    /// The lists that a file has, also empty ones.
    private(set) var sections: Set<CatalogueSection> = []
    private var files: [EntityKey: String] = [:]

    /// - Parameter paths: Catalogue files.
    /// - Throws: `CommandFailure` for one that cannot be read, and for an entry that stands in two places.
    init(files paths: [String]) throws {
        for path in paths { try add(path) }
    }

    private mutating func add(_ path: String) throws {
        let octets = Array(try TextFile.content(path))
        let root: JsonNode
        do throws(JsonSyntaxError) {
            root = try JsonDocument(parsing: octets).root
        } catch {
            throw CommandFailure("\(path) is no JSON (\(error))", exit: .usage)
        }
        guard case .object(let members) = root.content else {
            throw CommandFailure("\(path) is no catalogue", advice: "it is an object with lists such as 'requestors'", exit: .usage)
        }
        for member in members {
            guard let section = CatalogueSection(rawValue: member.name), case .array(let nodes) = member.value.content else {
                let known = CatalogueSection.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("\(path): '\(member.name)' is no list of a catalogue", advice: "the lists are \(known)", exit: .usage)
            }
            sections.insert(section)
            for (index, node) in nodes.enumerated() { try add(node, section, "\(path): \(section.rawValue)[\(index)]", in: path) }
        }
    }

    private mutating func add(_ node: JsonNode, _ section: CatalogueSection, _ place: String, in path: String) throws {
        if let name = Self.repeated(node) { throw CommandFailure("\(place) has the member '\(name)' twice", exit: .usage) }
        let tree = try Self.withFiles(JsonTree(node), folder: URL(fileURLWithPath: path).deletingLastPathComponent(), place)
        let key = EntityKey(section, of: tree)
        for name in section.identity where tree[name]?.text?.isEmpty ?? true {
            throw CommandFailure("\(place) has no text '\(name)'", advice: "an entry is known by it", exit: .usage)
        }
        if let other = files.updateValue(path, forKey: key) {
            throw CommandFailure("\(key) is there twice: in \(other) and in \(path)", advice: "leave it in one place", exit: .usage)
        }
        entries.append(Entry(key: key, tree: tree, file: path))
    }

    /// A name that an object of the value has twice.
    private static func repeated(_ node: JsonNode) -> String? {
        switch node.content {
        case .array(let nodes): return nodes.lazy.compactMap(repeated).first
        case .object(let members):
            var seen: Set<OctetText> = []
            for member in members {
                if !seen.insert(OctetText(member.name)).inserted { return member.name }
                if let name = repeated(member.value) { return name }
            }
            return nil
        case .null, .bool, .number, .string: return nil
        }
    }

    /// With the text of files in place of `{"file": "relative/path"}`.
    private static func withFiles(_ tree: JsonTree, folder: URL, _ place: String) throws -> JsonTree {
        switch tree {
        case .array(let elements): return .array(try elements.map { try withFiles($0, folder: folder, place) })
        case .object(let members):
            if members.count == 1, case .string(let relative)? = members["file"] { return .string(try text(of: relative, folder: folder, place)) }
            return .object(try members.mapValues { try withFiles($0, folder: folder, place) })
        case .null, .bool, .number, .string: return tree
        }
    }

    private static func text(of relative: String, folder: URL, _ place: String) throws -> String {
        let file = URL(fileURLWithPath: relative, relativeTo: folder).standardizedFileURL.path
        let text = try TextFile.read(file)
        guard !text.contains("PRIVATE KEY") else {
            throw CommandFailure(
                "\(place) names \(file), which holds a private key", advice: "give the certificate alone, and take that key out of use", exit: .usage)
        }
        // As the catalogue keeps it: without what the file may hold around it.
        guard let certificates = try? Cryptography.Certificate.all(pem: text), certificates.count == 1 else { return text }
        return (try? certificates[0].pem()) ?? text
    }

    // MARK: Against what is live

    /// The wanted entries by themselves, as they are to be.
    func document(over live: CatalogueDocument) -> CatalogueDocument {
        var document = CatalogueDocument(.object([:]))
        for entry in entries { document[entry.key] = Self.settled(entry, live[entry.key]) }
        return document
    }

    /// An OAuth record that does not say its callback keeps what it has.
    private static func settled(_ entry: Entry, _ live: JsonTree?) -> JsonTree {
        guard entry.key.section == .mvpds, case .object? = entry.tree["oauth"], entry.tree["oauth"]?["callback"] == nil,
            let callback = live?["oauth"]?["callback"]
        else { return entry.tree }
        var tree = entry.tree
        tree.set(["oauth", "callback"], to: callback)
        return tree
    }

    /// The entries that only the cluster has, in lists that the files have; entries that refer to others come first. The entries in a proxy's list
    /// are the proxy's.
    func removals(from live: CatalogueDocument) -> [EntityKey] {
        CataloguePlan.order.reversed().filter(sections.contains).flatMap { section in
            live.entries(section).map(\.key).filter { files[$0] == nil && !Self.isListed($0, live) }
        }
    }

    private static func isListed(_ key: EntityKey, _ live: CatalogueDocument) -> Bool {
        let mvpd = key.section == .integrations ? EntityKey(.mvpds, key.mvpd) : key
        return mvpd.section == .mvpds && live[mvpd]?["proxy"]?["listed"] == .bool(true)
    }

    /// The problems that keep the result from being a catalogue, by the files' own names. The earlier problems of an entry that no file has are not
    /// told.
    /// - Parameter removals: Entries that go.
    /// - Throws: `CommandFailure` when nothing can be tried, as no file can be written.
    func problems(over live: CatalogueDocument, removing removals: [EntityKey]) throws -> [String] {
        var whole = live
        for key in removals { whole[key] = nil }
        for entry in entries { whole[entry.key] = Self.settled(entry, live[entry.key]) }
        let found = try Self.problems(of: whole).map { Self.told($0, whole, files) }
        guard !found.isEmpty else { return [] }
        let before = Set(try Self.problems(of: live).map { OctetText(Self.told($0, live, [:])) })
        return found.filter { !before.contains(OctetText($0)) }
    }

    private static func problems(of document: CatalogueDocument) throws -> [CatalogueProblem] {
        let trial = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-\(UUID().uuidString).json")
        let content = Data(document.tree.canonicalBytes)
        guard FileManager.default.createFile(atPath: trial.path, contents: content, attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("cannot write \(trial.path)", advice: "TMPDIR names another folder")
        }
        defer { try? FileManager.default.removeItem(at: trial) }
        do throws(CatalogueRejection) {
            _ = try CatalogueFile(path: trial.path).read(now: SystemClock().now())
            return []
        } catch {
            return error.problems
        }
    }

    /// - Parameter files: Where entries are from; others are the cluster's.
    private static func told(_ problem: CatalogueProblem, _ document: CatalogueDocument, _ files: [EntityKey: String]) -> String {
        guard let match = problem.path.wholeMatch(of: /([A-Za-z]+)\[([0-9]+)\](?:\.(.*))?/),
            let section = CatalogueSection(rawValue: String(match.1)), let index = Int(match.2), document.entries(section).indices.contains(index)
        else { return "\(problem.path) \(problem.message)" }
        let key = document.entries(section)[index].key
        let rest = match.3.map { "\($0) " } ?? ""
        guard let file = files[key] else { return "\(key) of the cluster: \(rest)\(problem.message)" }
        return "\(file): \(key): \(rest)\(problem.message)"
    }
}

/// The changes that make the live catalogue the wanted one, in words.
struct CataloguePlan {
    /// An entry refers to what stands before it.
    static let order: [CatalogueSection] = [
        .programmers, .upstreams, .requestors, .mvpds, .integrations, .applications, .platformIdentityIssuers, .serviceTokenIssuers,
    ]

    private(set) var added = 0
    private(set) var changed = 0
    let removed: [EntityKey]
    private(set) var lines: [String] = []
    /// Entries with a reference to a secret that changes: references are each cluster's own, and promotion leaves them.
    private(set) var references: [EntityKey] = []

    private static let referring = [
        ["oauth", "clientSecretReference"], ["oauthClient", "clientSecretReference"], ["testSignIn", "passwordReference"],
    ]

    /// - Parameters:
    ///   - live: The newest version.
    ///   - wanted: The entries that are to be so.
    ///   - removals: Those that go.
    init(from live: CatalogueDocument, to wanted: CatalogueDocument, removing removals: [EntityKey]) {
        removed = removals
        for section in Self.order { for entry in wanted.entries(section) { add(entry.key, live[entry.key], entry.tree) } }
        lines += removals.map { "\($0) is removed" }
    }

    private mutating func add(_ key: EntityKey, _ old: JsonTree?, _ new: JsonTree) {
        guard let old else {
            added += 1
            return lines.append("\(key) is added")
        }
        let properties = Self.properties([], old, new)
        guard !properties.isEmpty else { return }
        changed += 1
        lines += properties.map { "\(key): \($0)" }
        let isOther = Self.referring.contains { path in
            guard case .object? = old[path[0]], case .object? = new[path[0]] else { return false }
            return old[path[0]]?[path[1]] != new[path[0]]?[path[1]]
        }
        if isOther { references.append(key) }
    }

    private static func properties(_ path: [String], _ old: JsonTree?, _ new: JsonTree?) -> [String] {
        guard old != new else { return [] }
        if case .object(let before)? = old, case .object(let after)? = new {
            return Set(before.keys).union(after.keys).sorted().flatMap { properties(path + [$0], before[$0], after[$0]) }
        }
        let name = path.joined(separator: ".")
        switch (old, new) {
        case (nil, let new?): return ["\(name) \(shown(new)) is added"]
        case (let old?, nil): return ["\(name) \(shown(old)) is removed"]
        case (let old?, let new?): return ["\(name) \(shown(old)) -> \(shown(new))"]
        case (nil, nil): return []
        }
    }

    private static func shown(_ tree: JsonTree) -> String {
        let text = tree.canonical
        return text.count <= 60 ? text : "\(text.prefix(57))..."
    }

    /// Nothing is to be done.
    var isEmpty: Bool { lines.isEmpty }

    /// `2 entries are added, 1 is changed, none is removed`.
    var headline: String {
        func told(_ count: Int, _ verb: String) -> String { count == 0 ? "none is \(verb)" : count == 1 ? "1 is \(verb)" : "\(count) are \(verb)" }
        return [told(added, "added"), told(changed, "changed"), told(removed.count, "removed")].joined(separator: ", ")
    }
}
