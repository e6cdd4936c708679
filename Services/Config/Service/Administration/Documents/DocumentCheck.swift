internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import StrictJson

/// Reads a document as the catalogue file is read, without files.
enum DocumentCheck {
    /// What a good document means.
    struct Reading: Sendable {
        let configuration: Configuration
        fileprivate let warnings: [CatalogueProblem]
    }

    /// - Parameter rights: Whose reader hears of the problems; `nil`: one who may see everything.
    /// - Throws: A `Refused` as its cause, with all problems.
    static func configuration(
        of document: CatalogueDocument, _ ledger: CatalogueLedger, for rights: Rights? = nil
    ) throws(Fault) -> Configuration {
        try read(document, ledger, edited: nil, for: rights).configuration
    }

    /// - Parameters:
    ///   - edited: Whose problems are told by their places in the entry alone, and whose warnings are returned.
    ///   - rights: As above. Who sees a part of the catalogue hears that something is taken, not by whom (clients §2).
    /// - Throws: A `Refused` as its cause, with all problems.
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
            throw Refused.invalid("", EntityText.shortened("is no catalogue entry: \(error.message)")).fault
        }
        let problems = JsonProblems(of: text)
        let reading = CatalogueReading(
            certificates: CertificateReader(folder: nil, now: now), completeness: .inProgress, namesOthers: audience.seesEverything)
        let configuration = reading.configuration(problems.root)
        guard problems.list.isEmpty, let configuration else {
            throw Refused.invalid(problems.list.map(audience.problem)).fault
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

/// Who hears what is wrong with a document.
private struct Audience {
    let document: CatalogueDocument
    let edited: EntityKey?
    let rights: Rights?

    var seesEverything: Bool { rights?.isOperator ?? true }

    func problem(_ problem: JsonProblem) -> FieldProblem {
        let message = EntityText.shortened(problem.message)
        guard let (key, rest) = DocumentCheck.place(problem.path.description, in: document) else {
            return FieldProblem(field: "\(problem.path)", message: message)
        }
        if let rights, !rights.sees(key, in: document) {
            // Of two that say the same, the later one in the document is at fault for the reader of documents.
            return FieldProblem(field: "", message: "does not fit an entry of another programmer: an id or an identity that it brings is taken")
        }
        return FieldProblem(field: key == edited ? rest : rest.isEmpty ? "\(key)" : "\(key): \(rest)", message: message)
    }
}
