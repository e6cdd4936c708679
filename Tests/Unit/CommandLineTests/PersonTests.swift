@testable import AdministrationCommands
@testable import CommandKit
import Testing

/// The questions and output of `boxoffice person`.
struct PersonTests {
    @Test("a person is named in one way")
    func options() throws {
        let good = try PersonExportCommand.parse(["--user", "ada", "--mvpd", "NorthCable"])
        #expect(good.person.question == ["user": "ada", "mvpd": "NorthCable"])
        #expect(try PersonEraseCommand.parse(["--household", "h1"]).person.question == ["household": "h1"])
        #expect(try PersonEraseCommand.parse(["--code", "ABCDEFG"]).person.question == ["code": "ABCDEFG"])
        for bad in [[], ["--code", "A", "--device", "B"], ["--mvpd", "NorthCable"]] {
            #expect(throws: (any Error).self) { try PersonExportCommand.parse(bad) }
            #expect(throws: (any Error).self) { try PersonEraseCommand.parse(bad) }
        }
    }

    @Test("before an erasure the rows are counted by service and table, and none of them is shown")
    func counts() throws {
        let body =
            #"{"people":[{"mvpd":"NorthCable","user":"ada","sessions":2}],"services":{"authentication":{"tables":{"session":[{"user":"ada"},{}],"code":[]},"#
            + #""more":true,"remainders":[]},"autosignin":{"tables":{"family":[{}]},"more":false},"gateway":{"tables":{},"more":false}}}"#
        let holdings = try PersonHoldings(HTTPAnswer(status: 200, headers: [], body: Array(body.utf8)))
        #expect(
            holdings.lines == [
                "held about this person:", "  authentication  session  2 rows", "  autosignin  family  1 row", "  and more",
            ])
        #expect(holdings.rows == ["authentication": ["session": 2], "autosignin": ["family": 1]] && holdings.people == 1 && !holdings.isEmpty)
        let none = try PersonHoldings(HTTPAnswer(status: 200, headers: [], body: Array(#"{"people":[],"services":{"config":{"tables":{}}}}"#.utf8)))
        #expect(none.isEmpty && none.lines == ["nothing is held about this person"])
        #expect(throws: (any Error).self) { try PersonEraseCommand.parse(["--user", "ada", "--yes", "--dry-run"]) }
        #expect(try PersonEraseCommand.parse(["--user", "ada", "--dry-run"]).dryRun)
    }

    @Test("a question is a yes only by y or yes")
    func questions() {
        for answer in ["y", "Y", " yes "] { #expect(Question.isYes(answer)) }
        for answer in ["", "n", "yeah", "no", nil] { #expect(!Question.isYes(answer)) }
    }

    @Test("the text tells what was erased, and what stays, why and until when")
    func text() throws {
        let body =
            #"{"people":[],"services":{"authentication":{"erased":{"session":2,"logout":1},"remainders":[{"name":"erased","rows":0,"#
            + #""reason":"digests","end":"after a day"}]},"autosignin":{"erased":{},"remainders":[{"name":"family","rows":1,"reason":"Apple","end":"soon"}]}}}"#
        #expect(
            try PersonAnswer(Array(body.utf8)).lines == [
                "authentication  logout  1 row erased", "authentication  session  2 rows erased", "what stays:",
                "  authentication  erased: digests; goes after a day", "  autosignin  family (1): Apple; goes soon",
            ])
        let none = try PersonAnswer(Array(#"{"people":[],"services":{"gateway":{"erased":{},"remainders":[]}}}"#.utf8))
        #expect(none.lines == ["nothing was held about this person", "what stays:"])
        #expect(try PersonAnswer.readable(Array(#"{"b":1,"a":[]}"#.utf8)).contains("\"a\""))
    }

    @Test(
        "an export of somebody about whom nothing is held is told from one with a row",
        arguments: [
            (#"{"people":[],"services":{"authentication":{"tables":{"session":[]},"more":false,"remainders":[{"name":"a","rows":0}]}}}"#, false),
            (#"{"people":[],"services":{"authentication":{"tables":{"session":[],"code":[{"id":1}]},"more":false,"remainders":[]}}}"#, true),
            (#"{"people":[],"services":{"autosignin":{"tables":{},"more":false,"remainders":[{"name":"family","rows":1}]}}}"#, true),
            (#"{"people":[{"mvpd":"NorthCable","sessions":0}],"services":{}}"#, true), (#"{"people":[],"services":{}}"#, false),
        ])
    func holds(body: String, something: Bool) throws {
        let holdings = try PersonHoldings(HTTPAnswer(status: 200, headers: [], body: Array(body.utf8)))
        #expect(holdings.isEmpty != something)
        #expect((holdings.lines == ["nothing is held about this person"]) != something, "an erasure asks where an export has something")
    }

    @Test(
        "an answer that is no export is not taken for one of somebody about whom nothing is held",
        arguments: ["", "{}", "<html>", #"{"services":[]}"#])
    func noExport(body: String) {
        #expect(throws: CommandFailure.self) { try PersonHoldings(HTTPAnswer(status: 200, headers: [], body: Array(body.utf8))) }
    }
}
