public import Clocks
public import Contracts
internal import Foundation
internal import StrictJson

/// A catalogue file and the certificate files that it names.
public struct CatalogueFile: Sendable {
    /// A catalogue without problems, and what an operator should look at nevertheless.
    public struct Content: Sendable {
        /// Without version, moment and software ids.
        public let configuration: Configuration
        /// The text as it is kept: certificates in place of the files that held them.
        package let document: CatalogueDocument
        public let warnings: [CatalogueProblem]

        /// The catalogue as JSON that needs no other file: certificates stand in place of the files that hold them. One line, members in order.
        public var text: String { String(decoding: document.tree.canonicalBytes, as: UTF8.self) }
        /// True when the file names other files.
        public let namesFiles: Bool
    }

    /// Bytes; a larger file is refused.
    private static let largest = 32 * 1024 * 1024

    public let path: String

    private let clientSecrets: ClientSecretFiles?

    /// - Parameter clientSecrets: The folder in which every client secret must lie that the catalogue refers to; `nil`: it is not known.
    public init(path: String, clientSecrets: String? = nil) {
        self.path = path
        self.clientSecrets = clientSecrets.map(ClientSecretFiles.init)
    }

    /// - Parameters:
    ///   - now: For the expiry of certificates.
    ///   - willRead: Called with the path of each file, this one first, before it is read.
    /// - Throws: `CatalogueRejection` with every problem and its place.
    public func read(now: Timestamp, willRead: @escaping (String) -> Void = { _ in }) throws(CatalogueRejection) -> Content {
        willRead(path)
        let document = try parse()
        let problems = JsonProblems(of: document)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let reading = CatalogueReading(certificates: CertificateReader(folder: folder, now: now, willRead: willRead), clientSecrets: clientSecrets)
        let configuration = reading.configuration(problems.root)
        let found = problems.list.sorted { ($0.position?.line ?? 0, $0.position?.column ?? 0) < ($1.position?.line ?? 0, $1.position?.column ?? 0) }
        guard found.isEmpty, let configuration else { throw refused(found.map { CatalogueProblem($0) }) }
        let tree = JsonTree(document.root) { path in reading.certificates.inlined[path].map(JsonTree.string) }
        return Content(
            configuration: configuration, document: CatalogueDocument(tree), warnings: reading.warnings,
            namesFiles: !reading.certificates.inlined.isEmpty)
    }

    private func parse() throws(CatalogueRejection) -> JsonDocument {
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            guard data.count <= Self.largest else { throw refused([CatalogueProblem(.error, "it has more than \(Self.largest) bytes")]) }
            return try JsonDocument(parsing: [UInt8](data))
        } catch let error as CatalogueRejection {
            throw error
        } catch let error as JsonSyntaxError {
            throw refused([CatalogueProblem(.error, "\(error)")])
        } catch {
            let reason = FileManager.default.fileExists(atPath: path) ? "is it a file, and may this user read it?" : "there is no such file"
            throw refused([CatalogueProblem(.error, "the file cannot be read: \(reason)")])
        }
    }

    private func refused(_ problems: [CatalogueProblem]) -> CatalogueRejection { CatalogueRejection(file: path, problems: problems) }
}

/// Something wrong in a catalogue file.
public struct CatalogueProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Severity: Sendable { case error, warning }

    /// A warning does not keep the catalogue from being used.
    public let severity: Severity
    /// Where in the document, such as `mvpds[2].saml.ssoUrl`; empty for the document as a whole.
    public let path: String
    /// Goes on from the path: `is missing`, `must be …`.
    public let message: String
    public let description: String

    /// A problem of the document as a whole.
    init(_ severity: Severity, _ description: String) {
        self.severity = severity
        path = ""
        message = description
        self.description = description
    }

    /// A problem that keeps a catalogue from being used beside the live one.
    /// - Parameters:
    ///   - place: An entry and its member.
    ///   - message: Goes on from there.
    package init(at place: String, _ message: String) {
        severity = .error
        path = place
        self.message = message
        description = "\(place) \(message)"
    }

    init(_ problem: JsonRejection) {
        severity = .error
        path = problem.path.description
        message = problem.message
        description = problem.description
    }

    init(warning message: String, at path: JsonPath) {
        severity = .warning
        self.path = path.description
        self.message = message
        description = "\(path) \(message)"
    }
}

/// All that is wrong in a catalogue file that cannot be used, in the order of the file.
public struct CatalogueRejection: Error, Sendable, CustomStringConvertible {
    public let file: String
    public let problems: [CatalogueProblem]

    /// - Parameter problems: At least one.
    package init(file: String, problems: [CatalogueProblem]) {
        self.file = file
        self.problems = problems
    }

    /// One line that sums up, then one per problem.
    public var lines: [String] {
        let count = problems.count == 1 ? "1 problem" : "\(problems.count) problems"
        return ["\(file): the catalogue has \(count); correct the file and start again"] + problems.map { "  \($0.description)" }
    }

    public var description: String { lines.joined(separator: "\n") }
}
