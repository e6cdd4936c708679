import ArgumentParser
@testable import BoxofficeMain
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

@Suite("How commands end")
struct ExitTests {
    private static let program = Bundle.main.bundleURL.appendingPathComponent("boxoffice").path

    private static func readme() throws -> String {
        try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Services/Operator/README.md"),
            encoding: .utf8)
    }

    @Test("the table of the README is that of the program")
    func table() throws {
        let readme = try Self.readme()
        let start = try #require(readme.range(of: "\n## Exit codes\n"))
        let chapter = readme[start.upperBound...].prefix(while: { $0 != "#" })
        let rows = chapter.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| Exit") }
        #expect(rows.map(String.init) == CommandExit.allCases.map { "| \($0.rawValue) | \($0.meaning) |" })
        #expect(readme.components(separatedBy: "| Exit code |").count == 2, "there is one table")
    }

    @Test(
        "errors of all kinds end alike",
        arguments: [
            (ValidationError("no") as any Error, 2, "boxoffice: no"), (CommandFailure("no", advice: "do"), 1, "boxoffice: no: do"),
            (CommandFailure("away", exit: .unreachable), 4, "boxoffice: away"), (CommandExit.expired.exitCode, 5, ""),
            (CancellationError(), 1, "boxoffice: it was given up"), (ExitCode.success, 0, ""),
            (NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC)), 1, "boxoffice: the disk is full"), (CleanExit.message("hello"), 0, "hello"),
        ] as [(any Error, Int32, String)])
    func errors(error: any Error, exit: Int32, message: String) {
        let end = CommandEnd(error, of: BoxofficeCommand.self)
        #expect(end.exit == exit)
        #expect(end.message.split(separator: "\n").first.map(String.init) ?? "" == message)
    }

    @Test("what could not begin is told from what was found wrong")
    func starts() {
        #expect(CommandExit.ofStart(CommandFailure("x")) == .unreachable)
        #expect(CommandExit.ofStart(CommandFailure("x", exit: .usage)) == .usage)
        #expect(CommandExit.ofStart(CancellationError()) == .unreachable)
    }

    @Test(
        "commands say on standard error what is wrong, after the same words",
        arguments: [
            (["frobnicate"], 2, "Unexpected argument 'frobnicate'"), (["up", "--copies", "x"], 2, "--copies"), (["status"], 4, "no cluster runs in"),
            (["catalogue", "keyz"], 2, "there is no file 'keyz'"), (["catalogue", "keyz"], 2, "Did you mean 'boxoffice catalogue keys'?"),
            (["device", "--poll", "1"], 2, "--poll"), (["load", "config", "--rate", "5", "--unheard-of"], 2, "--unheard-of"),
            (["load", "compare", "/nowhere/a", "/nowhere/b"], 2, "cannot read /nowhere/a"), (["load", "gateway", "--rate", "1"], 2, "--path"),
            (["call", "config"], 4, "no cluster runs in"), (["call", "x"], 2, "'x' is not a service"), (["secret", "list"], 4, "no cluster runs in"),
            (["support", "find", "--requestor", "ACME1", "--code", "X"], 4, "no cluster runs in"),
            (["verify", "x", "--jwks", "/nowhere"], 2, "cannot read /nowhere: there is no such file or folder"),
            (["up", "--store", "postgres://ann:hunter2@h/people"], 2, "boxoffice: --store names the database people"),
            (["up", "--store", "postgres://ann:hunter2@h?sslmode=require"], 2, "boxoffice: --store has the parameter sslmode=require"),
            (["up", "--store", "postgres://ann:hunter2@h?connect_timeout=5"], 2, "the services have a time limit of their own"),
            (["up", "--store", "postgres://ann:hunter2@h?password=hunter2"], 2, "boxoffice: --store has the parameter password"),
            (["up", "--store", "mysql://ann:hunter2@h"], 2, "boxoffice: --store is 'mysql://ann:[hidden]@h'"),
            (["up", "postgres://ann:hunter2@h"], 2, "Unexpected argument 'postgres://ann:[hidden]@h'"),
            (["up", "--store", "mysql://ann:hunter2 @ hunter2/@h"], 2, "boxoffice: --store is 'mysql://ann:[hidden]@h'"),
            (["up", "--replace", "config"], 2, "boxoffice: --replace"),
            (["logs", "--sicne", "1m"], 2, "boxoffice: '--sicne' is no option of 'boxoffice logs'. Did you mean '--since'?"),
            (["person", "export"], 2, "See 'boxoffice person export --help' for more information."), (["explain"], 4, "no cluster runs in"),
            (["help", "secrt"], 2, "Did you mean 'boxoffice secret'?"),
            (["logs"], 1, "there are no logs in"), (["logs", "gatway"], 2, "did you mean gateway?"),
        ] as [([String], Int32, String)])
    func told(arguments: [String], exit: Int32, part: String) throws {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("exit-\(UUID().uuidString)")
        let ended = try Subprocess.run(Self.program, arguments, environment: ["BOXOFFICE_HOME": home.path])
        #expect(ended.status == exit, "\(ended.error)")
        #expect(ended.error.contains(part), "\(ended.error)")
        #expect(!ended.error.contains("CommandError") && !ended.error.contains("hunter2"), "\(ended.error)")
        #expect(ended.error.hasPrefix("boxoffice: ") && !ended.error.contains("Error: ") && !ended.error.contains("Usage: "), "\(ended.error)")
        #expect(ended.error.firstMatch(of: /[.:;,][:;,]/) == nil, "doubled punctuation: \(ended.error)")
        #expect(ended.output.isEmpty)
    }

    private static func all(_ command: any ParsableCommand.Type = BoxofficeCommand.self) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { all($0) }
    }

    @Test("whatever value an option gets, what is wrong with it is told in a plain line, and the next step after it")
    func values() {
        var (refused, tried) = (0, Set<String>())
        // A parse takes a tenth of a second in a build for development. Each run tries each name once, and a long one all commands with three values.
        let isLong = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1"
        for command in Self.all() where command.configuration.subcommands.isEmpty {
            for option in OptionNames(of: command).valued.sorted() where option.hasPrefix("--") && (isLong || tried.insert(option).inserted) {
                for value in isLong ? ["nonsense", "", "-1"] : [["nonsense", "", "-1"][tried.count % 3]] {
                    let arguments = ["\(option)=\(value)"]
                    let end: CommandEnd
                    do {
                        _ = try command.parse(arguments)
                        continue
                    } catch { end = CommandEnd(parsing: error, arguments, of: command) }
                    refused += 1
                    let said = end.message.split(separator: "\n").map(String.init)
                    let first = said.first ?? ""
                    #expect(end.exit == 2 && first.hasPrefix("boxoffice: ") && said.count <= 8, "\(command) \(arguments): \(end.message)")
                    #expect(!end.message.contains("Usage: ") && !end.message.contains("Error: "), "\(command) \(arguments): \(end.message)")
                    #expect(first.firstMatch(of: /[.:;,][:;,]/) == nil, "doubled punctuation: \(first)")
                    #expect(first.firstMatch(of: /\b[A-Z][a-z]+[A-Za-z]*\(/) == nil, "a value as Swift prints it: \(first)")
                }
            }
        }
        #expect(refused > (isLong ? 250 : 25))
    }

    @Test(
        "a person's sentence and an advice are joined without doubled marks",
        arguments: [
            ("The entry is wrong.", "correct it", "The entry is wrong: correct it"), ("is it there?", "look", "is it there? look"),
            ("no", "do", "no: do"), ("no;", "do", "no: do"), ("The end.", "", "The end."),
        ])
    func joins(what: String, advice: String, whole: String) { #expect(CommandFailure(what, advice: advice).description == whole) }

    @Test("every command prints JSON for programs, but for those of which cluster.json tells, and those whose output is JSON")
    func json() {
        let others = ["up", "run", "print", "call", "export"]
        for command in Self.all() where command.configuration.subcommands.isEmpty && !others.contains(command.configuration.commandName ?? "") {
            let help = BoxofficeCommand.helpMessage(for: command)
            #expect(help.contains("--json") || help.contains("--format"), "\(command.configuration.commandName ?? "")")
        }
    }
}
