internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import StrictJson

/// Reads a document as the catalogue file is read, without files.
enum DocumentCheck {
    /// The meaning of a good document.
    struct Reading: Sendable {
        let configuration: Configuration
        fileprivate let warnings: [CatalogueProblem]
    }

    /// - Parameter rights: The rights of the reader who hears of the problems; `nil`: one who may see everything.
    /// - Throws: A `DocumentRejection` as its cause, with all problems.
    static func configuration(
        of document: CatalogueDocument, _ ledger: CatalogueLedger, for rights: Rights? = nil
    ) throws(Fault) -> Configuration {
        try read(document, ledger, edited: nil, for: rights).configuration
    }

    /// - Parameters:
    ///   - edited: The entries whose problems are told by their places in the entry alone, and whose warnings are returned.
    ///   - rights: As above. A reader who sees a part of the catalogue hears that something is taken, not by whom (clients §2).
    /// - Throws: A `DocumentRejection` as its cause, with all problems.
    static func read(
        _ document: CatalogueDocument, _ ledger: CatalogueLedger, edited: EntityKey?, for rights: Rights?
    ) throws(Fault) -> (configuration: Configuration, warnings: [FieldProblem]) {
        let content = document.tree.canonicalBytes
        let sha256 = Hex.encode(SHA256.hash(content))
        let found: Reading
        if let known = ledger.documents.reading(sha256, now: ledger.now) {
            found = known
        } else {
            found = try reading(document, content, now: ledger.now, Audience(document: document, edited: edited, rights: rights))
            ledger.documents.keep(found, sha256, now: ledger.now)
        }
        return (found.configuration, found.warnings.compactMap { warning($0, in: document, edited: edited) })
    }

    private static func reading(
        _ document: CatalogueDocument, _ content: [UInt8], now: Timestamp, _ audience: Audience
    ) throws(Fault) -> Reading {
        let text: JsonDocument
        do throws(JsonSyntaxError) {
            text = try JsonDocument(parsing: content)
        } catch {
            throw DocumentRejection.invalid("", EntityText.shortened("is no catalogue entry: \(error.message)")).fault
        }
        let problems = JsonProblems(of: text)
        let reading = CatalogueReading(
            certificates: CertificateReader(folder: nil, now: now), completeness: .inProgress, namesOthers: audience.seesEverything)
        let configuration = reading.configuration(problems.root)
        guard problems.list.isEmpty, let configuration else {
            throw DocumentRejection.invalid(problems.list.map(audience.problem)).fault
        }
        return Reading(configuration: configuration, warnings: reading.warnings)
    }

    private static func warning(_ warning: CatalogueProblem, in document: CatalogueDocument, edited: EntityKey?) -> FieldProblem? {
        guard let (key, rest) = place(warning.path, in: document), key == edited else { return nil }
        return FieldProblem(field: rest, message: EntityText.shortened(warning.message))
    }

    /// `requestors[3].domains[0]` as the entry's key and `domains[0]`.
    fileprivate static func place(_ path: String, in document: CatalogueDocument) -> (EntityKey, String)? {
        guard let match = path.wholeMatch(of: /([A-Za-z]+)\[([0-9]+)\](?:\.(.*))?/), let section = CatalogueSection(rawValue: String(match.1)),
            let index = Int(match.2), document.entries(section).indices.contains(index)
        else { return nil }
        return (document.entries(section)[index].key, match.3.map { String($0) } ?? "")
    }
}

/// The readers of a document's problems.
private struct Audience {
    let document: CatalogueDocument
    let edited: EntityKey?
    let rights: Rights?

    var seesEverything: Bool { rights?.isOperator ?? true }

    func problem(_ problem: JsonRejection) -> FieldProblem {
        let message = EntityText.shortened(problem.message)
        guard let (key, rest) = DocumentCheck.place(problem.path.description, in: document) else {
            return FieldProblem(field: "\(problem.path)", message: message)
        }
        if let rights, !rights.sees(key, in: document) {
            // When two entries say the same, the later one in the document is at fault for the reader of documents.
            return FieldProblem(field: "", message: "does not fit an entry of another programmer: an id or an identity that it brings is taken")
        }
        return FieldProblem(field: key == edited ? rest : rest.isEmpty ? "\(key)" : "\(key): \(rest)", message: message)
    }
}

/// Reads one entry as an administrator sends it.
enum EntityText {
    /// Bytes; a longer text is refused before it is looked at.
    static let longest = 512 * 1024
    /// Characters of a message; what it quotes may be long.
    private static let longestMessage = 300

    /// - Throws: A `DocumentRejection` as its cause, with every problem that can be seen without the rest of the catalogue.
    static func read(_ text: String, as section: CatalogueSection) throws(Fault) -> (key: EntityKey, tree: JsonTree) {
        guard text.utf8.count <= longest else { throw DocumentRejection.invalid("", "has more than \(longest) bytes").fault }
        let node: JsonNode
        do throws(JsonSyntaxError) {
            node = try JsonDocument(parsing: Array(text.utf8)).root
        } catch {
            throw DocumentRejection.invalid("", shortened("is no JSON: \(error)")).fault
        }
        guard case .object = node.content else { throw DocumentRejection.invalid("", "must be an object").fault }
        var problems: [FieldProblem] = []
        inspect(node, .root, &problems)
        let tree = JsonTree(node)
        for name in section.identity where tree[name]?.text?.isEmpty != false {
            problems.append(FieldProblem(field: name, message: tree[name] == nil ? "is missing" : "must be a text that is not empty"))
        }
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        return (EntityKey(section, of: tree), tree)
    }

    /// Members of an entry.
    /// - Parameter field: Where problems are said to be.
    /// - Throws: A `DocumentRejection` as its cause.
    static func object(_ text: String, field: String) throws(Fault) -> JsonTree {
        guard text.utf8.count <= longest, let node = try? JsonDocument(parsing: Array(text.utf8)).root, case .object = node.content else {
            throw DocumentRejection.invalid(field, "must be a JSON object of at most \(longest) bytes").fault
        }
        var problems: [FieldProblem] = []
        inspect(node, .root, &problems)
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        return JsonTree(node)
    }

    static func shortened(_ message: String) -> String {
        message.count <= longestMessage ? message : message.prefix(longestMessage) + "…"
    }

    /// Refuses content that no text of a catalogue may have, wherever it stands: a name twice, a NUL, a private key (dashboard §2). The text itself
    /// is not quoted.
    private static func inspect(_ node: JsonNode, _ path: JsonPath, _ problems: inout [FieldProblem]) {
        guard problems.count < JsonProblems.most else { return }
        switch node.content {
        case .string(let text):
            if text.utf8.contains(0) { problems.append(FieldProblem(field: "\(path)", message: "must not hold a NUL")) }
            if text.contains("PRIVATE KEY-----") {
                problems.append(
                    FieldProblem(field: "\(path)", message: "holds a private key; paste the certificate alone, and take that key out of use"))
            }
        case .array(let nodes):
            for (index, node) in nodes.enumerated() { inspect(node, path.appending(index: index), &problems) }
        case .object(let members):
            var seen: Set<OctetText> = []
            for member in members {
                let place = path.appending(key: String(member.name.prefix(100)))
                if !seen.insert(member.name).inserted { problems.append(FieldProblem(field: "\(place)", message: "occurs twice")) }
                inspect(member.value, place, &problems)
            }
        case .null, .bool, .number: break
        }
    }
}

/// A change is not made for this reason; travels as the cause of a fault, so that the transaction it arose in is undone.
struct DocumentRejection: Error, Sendable {
    let refusal: Refusal

    init(
        _ reason: RefusalReason, _ message: String, problems: [FieldProblem] = [], conflicts: [CatalogueChange] = [], references: [EntityKey] = []
    ) {
        refusal = Refusal(
            reason: reason, message: message, problems: problems, conflicts: conflicts, references: references.map(\.reference))
    }

    /// The refusal of an entry that is not as it must be.
    static func invalid(_ problems: [FieldProblem]) -> DocumentRejection {
        DocumentRejection(.invalid, problems.count == 1 ? "One thing is wrong." : "\(problems.count) things are wrong.", problems: problems)
    }

    static func invalid(_ field: String, _ message: String) -> DocumentRejection { invalid([FieldProblem(field: field, message: message)]) }

    var fault: Fault { Fault(.invalidRequest, refusal.message, cause: self) }
}

extension Fault {
    /// The refusal that the fault carries.
    var refusal: Refusal? { (cause as? DocumentRejection)?.refusal }
}
