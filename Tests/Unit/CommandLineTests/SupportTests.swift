@testable import AdministrationCommands
import Foundation
import Testing

/// The questions and output of `boxoffice support`.
struct SupportTests {
    @Test("a viewer is named in one way, and a user at an MVPD")
    func options() throws {
        let good = try SupportFindCommand.parse(["--requestor", "ACME1", "--user", "ada", "--mvpd", "NorthCable"])
        #expect(good.viewer.question == ["requestor": "ACME1", "user": "ada", "mvpd": "NorthCable"])
        for bad in [[], ["--code", "A", "--device", "B"], ["--user", "ada"]] {
            #expect(throws: (any Error).self) { try SupportFindCommand.parse(["--requestor", "ACME1"] + bad) }
        }
        #expect(throws: (any Error).self) { try SupportEndCommand.parse(["--requestor", "ACME1", "--device", "d"]) }
        #expect(throws: (any Error).self) { try SupportEndCommand.parse(["--requestor", "ACME1", "--device", "d", "--all", "--session", "s"]) }
        #expect(try SupportEndCommand.parse(["--requestor", "ACME1", "--device", "d", "--all"]).all)
    }

    @Test("the text tells since when, by which way and until when")
    func text() throws {
        let body =
            #"{"sessions":[{"id":"s1","mvpd":"NorthCable","way":"signIn","authenticatedAt":1930384805000,"createdAt":1930384805000,"#
            + #""expiresAt":1930471205000,"device":"dev-…","deviceType":"TV","deviceModel":null,"os":"tvOS","lastRefusal":{"#
            + #""at":1930384860000,"code":"network_connection_timeout","source":"mvpd","reason":"The MVPD could not be reached in time."}}],"more":true,"#
            + #""code":{"createdAt":1930384800000,"expiresAt":1930386600000,"used":true}}"#
        let lines = try ViewerAnswer(Array(body.utf8)).lines
        #expect(
            lines == [
                "code made 2031-03-04T10:00:00Z, ends 2031-03-04T10:30:00Z, used", "s1",
                "  signIn at NorthCable since 2031-03-04T10:00:05Z, until 2031-03-05T10:00:05Z", "  TV, tvOS, id dev-…",
                "  last no 2031-03-04T10:01:00Z: The MVPD could not be reached in time. (network_connection_timeout)",
                "there are more: name the MVPD, or look for the device",
            ])
        let none = try ViewerAnswer(Array(#"{"sessions":[],"more":false,"code":null}"#.utf8))
        #expect(none.lines == ["no session; those that are over are known for a day"])
    }
}
