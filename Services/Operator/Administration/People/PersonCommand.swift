package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice person`: everything about a person.
package struct PersonCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "person", abstract: "Export or erase everything that the cluster holds about a person.",
        subcommands: [PersonExportCommand.self, PersonEraseCommand.self])

    package init() {}
}

/// The person that is meant.
struct PersonOptions: ParsableArguments {
    @Option(help: "The user's id, as the MVPD knows it.")
    var user: String?

    @Option(help: "The household's id, as the MVPD tells it.")
    var household: String?

    @Option(help: "The id of a device that the person is signed in on.")
    var device: String?

    @Option(help: "The registration code that such a device shows, or showed.")
    var code: String?

    @Option(help: "The MVPD, where an id stands for people at several.", completion: .catalogue(.mvpds))
    var mvpd: String?

    func validate() throws {
        guard [user, household, device, code].compactMap({ $0 }).count == 1 else {
            throw ValidationError("Give one of --user, --household, --device and --code.")
        }
    }

    /// The body of the call.
    var question: [String: String] {
        var question: [String: String] = [:]
        question["user"] = user
        question["household"] = household
        question["device"] = device
        question["code"] = code
        question["mvpd"] = mvpd
        return question
    }
}

/// `boxoffice person export`.
struct PersonExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print everything that the services hold about a person, as JSON by service and table.",
        discussion: """
            It takes an operator, or an administrator with the right 'personalData'. Each export is in the audit log, without the person. An id that \
            stands for several people is refused, and they are named. The exit code is 1 where nothing is held about the person.
            """)

    @OptionGroup var person: PersonOptions

    @Option(help: "The file to write, for its owner alone; standard output unless given.")
    var output: String?

    func run() async throws {
        let answer = try await AdministrationCall.send("POST", "/people/export", body: try AdministrationCall.json(person.question))
        guard try !PersonHoldings(answer).isEmpty else {
            throw CommandFailure("nothing is held about this person", advice: "check the id, and the MVPD that it belongs to")
        }
        let text = try PersonAnswer.readable(answer.body)
        guard let output else { return print(text) }
        guard FileManager.default.createFile(atPath: output, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("\(output) cannot be written")
        }
        Console().line("written to \(output)")
    }
}

/// `boxoffice person erase`.
struct PersonEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Remove everything that the services hold about a person, and tell what has to stay, why and until when.",
        discussion: """
            The person is signed out everywhere; a sign-in that has begun comes to nothing. It takes an operator, or an administrator with the right \
            'personalData', and is in the audit log without the person. Backups, logs and reports are not touched: see Shared/Documents/PersonalData.md. \
            On a terminal it tells first how much is held, and asks. That look is an export, and is recorded as one.
            """)

    @OptionGroup var person: PersonOptions

    @Flag(help: "Tell how much is held about the person, and erase nothing.")
    var dryRun = false

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard !dryRun || !yes else { throw ValidationError("--dry-run erases nothing, so --yes answers nothing: give one of them.") }
    }

    func run() async throws {
        let isAsked = !yes && !json && Question.isPossible
        if dryRun || isAsked {
            let answer = try await AdministrationCall.send("POST", "/people/export", body: try AdministrationCall.json(person.question))
            let holdings = try PersonHoldings(answer)
            guard !(dryRun && json) else { return try JsonOutput.show(holdings.members) }
            for line in holdings.lines { Console().line(line) }
            guard !dryRun, !holdings.isEmpty else { return }
            guard Question.agrees("Sign this person out everywhere, and erase all of it?") else {
                throw CommandFailure("nothing is erased", advice: "--dry-run tells what is held without a question", exit: .cancelled)
            }
        }
        let answer = try await AdministrationCall.send("POST", "/people/erase", body: try AdministrationCall.json(person.question))
        guard !json else { return print(answer.text) }
        for line in try PersonAnswer(answer.body).lines { Console().line(line) }
    }
}

/// The answer of `/admin/v1/people/export`, counted: nobody needs to read it to erase it.
struct PersonHoldings {
    /// Rows by service and table; tables without rows are left out.
    let rows: [String: [String: Int]]
    /// At how many MVPDs somebody is found.
    let people: Int
    /// Rows of the person's that an erasure leaves. Other things that stay are told of everybody, and count no rows.
    let staying: Int
    /// The services hold more rows than the answer has.
    let hasMore: Bool

    /// - Throws: `CommandFailure` for what is no export: nobody may take it for one of somebody about whom nothing is held.
    init(_ answer: HTTPAnswer) throws {
        let object = answer.object
        guard let services = object["services"] as? [String: [String: Any]] else {
            throw CommandFailure("the cluster's answer is no export", advice: "is it of this release?", exit: .unreachable)
        }
        rows = services.mapValues { service in
            (service["tables"] as? [String: [Any]] ?? [:]).mapValues(\.count).filter { $0.value > 0 }
        }.filter { !$0.value.isEmpty }
        people = (object["people"] as? [Any])?.count ?? 0
        staying = services.values.flatMap { $0["remainders"] as? [[String: Any]] ?? [] }.reduce(0) { $0 + ($1["rows"] as? Int ?? 0) }
        hasMore = services.values.contains { $0["more"] as? Bool == true }
    }

    var isEmpty: Bool { rows.isEmpty && people == 0 && staying == 0 }

    var lines: [String] {
        guard !isEmpty else { return ["nothing is held about this person"] }
        let lines = rows.sorted { $0.key < $1.key }.flatMap { service, tables in
            tables.sorted { $0.key < $1.key }.map { "\(service)  \($0.key)  \($0.value) \($0.value == 1 ? "row" : "rows")" }
        }
        let known = lines.isEmpty && staying == 0 ? ["  an id, and no row of any table"] : lines.map { "  \($0)" }
        let stays = staying > 0 ? ["  \(staying) \(staying == 1 ? "row" : "rows") that an erasure leaves; an export says which, and why"] : []
        return ["held about this person:"] + known + stays + (hasMore ? ["  and more"] : [])
    }

    /// For programs.
    var members: [String: Any] { ["people": people, "rows": rows, "staying": staying, "more": hasMore] }
}

/// The answer of `/admin/v1/people/erase`, as lines for a terminal.
struct PersonAnswer: Decodable {
    struct Part: Decodable {
        /// Rows by table.
        let erased: [String: Int]
        let remainders: [Remainder]
    }

    struct Remainder: Decodable {
        let name: String
        let rows: Int
        let reason: String
        let end: String
    }

    let services: [String: Part]

    init(_ body: [UInt8]) throws { self = try JSONDecoder().decode(PersonAnswer.self, from: Data(body)) }

    var lines: [String] {
        var lines: [String] = []
        let names = services.keys.sorted()
        for service in names {
            for (table, rows) in (services[service]?.erased ?? [:]).sorted(by: { $0.key < $1.key }) {
                lines.append("\(service)  \(table)  \(rows) \(rows == 1 ? "row" : "rows") erased")
            }
        }
        if lines.isEmpty { lines.append("nothing was held about this person") }
        lines.append("what stays:")
        for service in names {
            for remainder in services[service]?.remainders ?? [] {
                let count = remainder.rows > 0 ? " (\(remainder.rows))" : ""
                lines.append("  \(service)  \(remainder.name)\(count): \(remainder.reason); goes \(remainder.end)")
            }
        }
        return lines
    }

    /// The same JSON with a line for each member.
    static func readable(_ body: [UInt8]) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(body))
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
