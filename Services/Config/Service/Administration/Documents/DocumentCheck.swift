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

    /// - Throws: A `Refused` as its cause, with all problems.
    static func configuration(of document: CatalogueDocument, _ ledger: CatalogueLedger) throws(Fault) -> Configuration {
        try read(document, ledger, edited: nil).configuration
    }

    /// - Parameter edited: Whose problems are told by their places in the entry alone, and whose warnings are returned.
    /// - Throws: A `Refused` as its cause, with all problems.
    static func read(
        _ document: CatalogueDocument, _ ledger: CatalogueLedger, edited: EntityKey?
    ) throws(Fault) -> (configuration: Configuration, warnings: [FieldProblem]) {
        let content = document.tree.canonicalBytes
        let sha256 = Hex.encode(SHA256.hash(content))
        let found: Reading
        if let known = ledger.documents.reading(sha256, now: ledger.now) {
            found = known
        } else {
            found = try reading(document, content, now: ledger.now, edited: edited)
            ledger.documents.keep(found, sha256, now: ledger.now)
        }
        return (found.configuration, found.warnings.compactMap { warning($0, in: document, edited: edited) })
    }

    private static func reading(
        _ document: CatalogueDocument, _ content: [UInt8], now: Timestamp, edited: EntityKey?
    ) throws(Fault) -> Reading {
        let text: JsonDocument
        do throws(JsonSyntaxError) {
            text = try JsonDocument(parsing: content)
        } catch {
            throw Refused.invalid("", EntityText.shortened("is no catalogue entry: \(error.message)")).fault
        }
        let problems = JsonProblems(of: text)
        let reading = CatalogueReading(certificates: CertificateReader(folder: nil, now: now), completeness: .inProgress)
        let configuration = reading.configuration(problems.root)
        guard problems.list.isEmpty, let configuration else {
            throw Refused.invalid(problems.list.map { fieldProblem($0, in: document, edited: edited) }).fault
        }
        return Reading(configuration: configuration, warnings: reading.warnings)
    }

    private static func warning(_ warning: CatalogueProblem, in document: CatalogueDocument, edited: EntityKey?) -> FieldProblem? {
        guard let (key, rest) = place(warning.path, in: document), key == edited else { return nil }
        return FieldProblem(field: rest, message: EntityText.shortened(warning.message))
    }

    private static func fieldProblem(_ problem: JsonProblem, in document: CatalogueDocument, edited: EntityKey?) -> FieldProblem {
        let message = EntityText.shortened(problem.message)
        guard let (key, rest) = place(problem.path.description, in: document) else { return FieldProblem(field: "\(problem.path)", message: message) }
        return FieldProblem(field: key == edited ? rest : rest.isEmpty ? "\(key)" : "\(key): \(rest)", message: message)
    }

    /// `requestors[3].domains[0]` as the entry's key and `domains[0]`.
    private static func place(_ path: String, in document: CatalogueDocument) -> (EntityKey, String)? {
        guard let match = path.wholeMatch(of: /([A-Za-z]+)\[([0-9]+)\](?:\.(.*))?/), let section = CatalogueSection(rawValue: String(match.1)),
            let index = Int(match.2), document.entries(section).indices.contains(index)
        else { return nil }
        return (document.entries(section)[index].key, match.3.map { String($0) } ?? "")
    }
}
