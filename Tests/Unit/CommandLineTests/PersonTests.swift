@testable import BoxofficeCommand
import Testing

/// What `boxoffice person` asks and prints.
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
}
