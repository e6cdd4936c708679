internal import ArgumentParser
internal import CatalogueFiles
internal import CommandKit
internal import Foundation

/// `boxoffice catalogue from-adobe`: a vendor's public configuration as files of the catalogue.
struct CatalogueFromAdobeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from-adobe",
        abstract: "Make catalogue files of what Adobe Pass says publicly of your requestors, and a list of what is still missing.",
        discussion: """
            Each SOURCE is the id of a requestor, which is asked for at the vendor, or a FILE with such an answer: a name with a dot or a slash. Answers \
            of /api/v1/config/REQUESTOR are read in JSON and in XML, those of /api/v2/REQUESTOR/configuration in JSON. v1 needs no credentials. With \
            --statement one client is registered at the vendor, and v2 is asked; with --bearer-file v2 is asked with an access token that you have. \
            Neither is kept.

            In the folder of --output, catalogue.json gets programmer and requestors, mvpds/ID.json each MVPD with its integrations, and mvpds.json \
            what is missing, and who has it. Files that are there stay as they are; only that list is brought up to date. 'boxoffice catalogue apply' \
            makes the files live; Shared/Tooling/mvpd-letters writes to the MVPDs.

            With --bridge the vendor serves each MVPD as an upstream until it is ready, and all files can be applied at once. Without it, apply an \
            MVPD's file when it is complete.
            """)

    @Argument(help: ArgumentHelp("A requestor's id, or a FILE with an answer.", valueName: "source"))
    var sources: [String]

    @Option(help: "Where the vendor answers: scheme and host.")
    var base = VendorServer.usual

    @Option(name: .customLong("platform"), help: "A platform to ask for: ios, tvos, roku or fireTv; repeat it. Default: all. Of FILEs: the one.")
    var platforms: [String] = []

    @Option(help: "A file with a software statement for REST API v2; it registers one client.")
    var statement: String?

    @Option(help: "A file with an access token for REST API v2.")
    var bearerFile: String?

    @Option(help: "The programmer's id. Default: that of the first requestor.")
    var programmer: String?

    @Option(help: ArgumentHelp("Let the vendor serve the MVPDs, as an upstream of this id.", valueName: "id"))
    var bridge: String?

    @Option(help: "The folder for the files.")
    var output = "adobe-pass"

    @Flag(help: "Print JSON.")
    var json = false

    private var files: [String] { sources.filter(Self.isFile) }
    private var requestors: [String] { sources.filter { !Self.isFile($0) } }

    private static func isFile(_ source: String) -> Bool { source.contains(".") || source.contains("/") }

    func validate() throws {
        for platform in platforms where !VendorServer.platforms.contains(platform) {
            throw ValidationError("--platform \(platform) is none of \(VendorServer.platforms.joined(separator: ", ")).")
        }
        if !files.isEmpty, platforms.count > 1 { throw ValidationError("A FILE is the answer for one --platform.") }
        if statement != nil, bearerFile != nil { throw ValidationError("--statement and --bearer-file are two ways: give one of them.") }
        if requestors.isEmpty, statement != nil || bearerFile != nil {
            throw ValidationError("--statement and --bearer-file go with the ids of requestors: FILEs need none.")
        }
        for (name, id) in [("--programmer", programmer), ("--bridge", bridge)] {
            if let id, !CatalogueSyntax.isID(id) { throw ValidationError("\(name) takes letters, digits, '_' and '-'; it is '\(id)'.") }
        }
        for id in requestors where !CatalogueSyntax.isID(id) {
            throw ValidationError("'\(id)' is no id of a requestor, and no FILE, whose name has a dot or a slash.")
        }
        if let problem = CatalogueURL.originProblem(base) { throw ValidationError("--base \(problem).") }
    }

    func run() async throws {
        var draft = VendorDraft(bridge: bridge, programmer: programmer)
        for file in files { draft.take(try VendorConfiguration(Array(try TextFile.content(file)), from: file), platform: platforms.first) }
        if !requestors.isEmpty { try await ask(&draft) }
        let written = try VendorFiles(folder: URL(fileURLWithPath: output, isDirectory: true)).write(draft, upstream: base)
        try tell(draft, written)
    }

    private func ask(_ draft: inout VendorDraft) async throws {
        let configurations = try await HTTPExchange.once { exchange in
            var server = VendorServer(base: base, exchange: exchange)
            if let bearerFile { try server.use(bearer: try TextFile.read(bearerFile)) }
            if let statement { try await server.register(statement: try TextFile.read(statement)) }
            var found: [(VendorConfiguration, String)] = []
            for requestor in requestors {
                for platform in platforms.isEmpty ? VendorServer.platforms : platforms {
                    // One call a second is let through after the first ten (rest-v1 §2.7); registration took two of them.
                    if found.count >= 8 { try await Task.sleep(for: .seconds(1)) }
                    found.append((try await server.configuration(of: requestor, platform: platform), platform))
                }
            }
            return found
        }
        for (configuration, platform) in configurations { draft.take(configuration, platform: platform) }
    }

    private func tell(_ draft: VendorDraft, _ written: VendorFiles.Written) throws {
        guard !json else {
            return try JsonOutput.show([
                "requestors": draft.requestorIDs, "mvpds": draft.mvpdIDs, "leftOut": draft.leftOut.map(\.text).sorted(), "written": written.made,
                "kept": written.kept, "list": written.list, "registered": statement != nil,
            ])
        }
        let console = Console()
        if statement != nil { console.line("registered one client at \(base); neither it nor its token is kept") }
        console.line("\(draft.requestorIDs.joined(separator: ", ")): \(draft.mvpdIDs.count) MVPDs")
        for id in draft.leftOut.map(\.text).sorted() { console.line("left out: '\(id.prefix(80))' is no id that an MVPD can have here") }
        console.line("\(output): \(written.made.count) files written\(written.kept.isEmpty ? "" : ", \(written.kept.count) kept as they are")")
        console.line("still missing (\(written.list) says it for each MVPD):")
        for line in Self.summary(draft) { console.line("  \(line)") }
        console.line("next:")
        for line in next { console.line("  \(line)") }
    }

    /// The numbers of MVPDs that lack each thing, by who has it.
    static func summary(_ draft: VendorDraft) -> [String] {
        var order: [String] = []
        var counts: [OctetText: Int] = [:]
        for gap in draft.mvpdIDs.flatMap({ draft.gaps(of: $0) }) {
            let line = "\(gap.who): \(gap.what)"
            if counts[line] == nil { order.append(line) }
            counts[line, default: 0] += 1
        }
        return order.map { "\(counts[$0] ?? 0)  \($0)" }
    }

    private var next: [String] {
        let list = "\(output)/\(VendorFiles.list)"
        let letters = "Shared/Tooling/mvpd-letters --list \(list) --origin https://YOUR-NAME --output letters"
        guard let bridge else { return ["boxoffice catalogue apply \(output)/\(VendorFiles.catalogue) --dry-run", letters] }
        return [
            "boxoffice secret set \(bridge)-statement --file STATEMENT",
            "boxoffice catalogue apply \(output)/\(VendorFiles.catalogue) \(output)/\(VendorFiles.mvpds)/*.json --dry-run", letters,
        ]
    }
}

/// The folder that `from-adobe` writes.
struct VendorFiles {
    struct Written: Equatable {
        /// Paths below the folder.
        var made: [String] = []
        var kept: [String] = []
        /// The list of what is missing.
        var list = ""
    }

    static let catalogue = "catalogue.json"
    static let mvpds = "mvpds"
    static let list = "mvpds.json"

    let folder: URL

    /// Writes what is not there yet, and brings the list up to date.
    /// - Throws: `CommandFailure` naming what cannot be written, or a list that is damaged.
    func write(_ draft: VendorDraft, upstream: String) throws -> Written {
        var written = Written()
        let kept = try keptList()
        do {
            try FileManager.default.createDirectory(at: folder.appendingPathComponent(Self.mvpds), withIntermediateDirectories: true)
        } catch {
            throw CommandFailure("cannot make the folder \(folder.path)", advice: PlainReason.of(error))
        }
        try put(draft.catalogue(upstream: upstream), Self.catalogue, &written)
        for id in draft.mvpdIDs { try put(draft.document(of: id), "\(Self.mvpds)/\(id).json", &written) }
        try write(draft.list(over: kept), folder.appendingPathComponent(Self.list))
        written.list = folder.appendingPathComponent(Self.list).relativePath
        return written
    }

    private func keptList() throws -> [String: Any] {
        let file = folder.appendingPathComponent(Self.list)
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        guard let object = (try? JSONSerialization.jsonObject(with: TextFile.content(file.path))) as? [String: Any] else {
            throw CommandFailure("\(file.path) is damaged", advice: "mend it, or name another folder with --output", exit: .usage)
        }
        return object
    }

    private func put(_ object: [String: Any], _ path: String, _ written: inout Written) throws {
        let file = folder.appendingPathComponent(path)
        guard !FileManager.default.fileExists(atPath: file.path) else { return written.kept.append(path) }
        try write(object, file)
        written.made.append(path)
    }

    private func write(_ object: [String: Any], _ file: URL) throws {
        do {
            let text = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            try (text + Data("\n".utf8)).write(to: file, options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(file.path)", advice: PlainReason.of(error))
        }
    }
}
