internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// The records of a person that are told and erased, over all services.
@Suite struct PeopleTests {
    let gateway = TestGateway()
    private static let body = #"{"user":"ada","mvpd":"NorthCable"}"#

    init() {
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        gateway.operations.exportPerson.answer(
            with: PersonExport(
                people: [PersonIdentity(mvpd: "NorthCable", upstreamUserID: "ada", sessions: 1)],
                logins: [PersonLogin(mvpd: "NorthCable", userID: "u1")], sessionIDs: ["s1"], deviceIDs: ["d1"],
                records: PersonRecords(tables: [PersonTable(name: "session", rows: [#"{"id":"s1"}"#])])))
        gateway.operations.erasePerson.answer(
            with: PersonErasure(
                people: [PersonIdentity(mvpd: "NorthCable", upstreamUserID: "ada", sessions: 1)],
                records: ErasedRecords(
                    tables: [ErasedTable(name: "session", rows: 1)],
                    remainders: [PersonRemainder(name: "used_assertion", reason: "replay", end: "soon")])))
        gateway.authorization.exportPerson.answer(
            with: PersonRecords(tables: [PersonTable(name: "refusals", rows: [#"{"session":"s1"}"#])]))
        gateway.authorization.erasePerson.answer(with: ErasedRecords(tables: [ErasedTable(name: "refusals", rows: 1)]))
        gateway.autoSignInOperations.exportPerson.answer(with: AccountHolderExport(logins: [PersonLogin(mvpd: "NorthCable", userID: "u1")]))
        gateway.autoSignInOperations.erasePerson.answer(with: ErasedRecords())
    }

    private var subjects: [String] { gateway.administration.checkAdministrator.requests.map(\.subject) }
    private var hasErased: Bool {
        !gateway.operations.erasePerson.requests.isEmpty || !gateway.authorization.erasePerson.requests.isEmpty
            || !gateway.autoSignInOperations.erasePerson.requests.isEmpty
    }

    @Test("an export is recorded without the person, and tells every service's rows by table and what stays")
    func exports() async throws {
        let reply = try await gateway.administer(.post, "/people/export", Self.body)
        #expect(reply.status == 200)
        #expect(reply.text.contains(#""people":[{"mvpd":"NorthCable","user":"ada","sessions":1}]"#), "\(reply.text)")
        #expect(reply.text.contains(#""authentication":{"tables":{"session":[{"id":"s1"}]},"more":false"#))
        #expect(reply.text.contains(#""authorization":{"tables":{"refusals":[{"session":"s1"}]}"#))
        for service in ["autosignin", "config", "gateway"] { #expect(reply.text.contains("\"\(service)\":{\"tables\":{}")) }
        #expect(subjects == ["exports a person by user id at NorthCable"])
        #expect(gateway.administration.checkAdministrator.requests.allSatisfy { $0.permission == .personalData })
        #expect(gateway.authorization.exportPerson.requests == [PersonSessions(sessionIDs: ["s1"])])
        #expect(
            gateway.autoSignInOperations.exportPerson.requests
                == [AccountHolder(logins: [PersonLogin(mvpd: "NorthCable", userID: "u1")], deviceIDs: ["d1"])])
        #expect(!hasErased)
    }

    @Test("an erasure asks all services first, erases authentication's part last, and records both intent and outcome")
    func erases() async throws {
        let reply = try await gateway.administer(.post, "/people/erase", Self.body)
        #expect(reply.status == 200)
        #expect(
            reply.text.contains(
                #""authentication":{"erased":{"session":1},"remainders":[{"name":"used_assertion","rows":0,"reason":"replay","end":"soon"}]}"#))
        #expect(reply.text.contains(#""authorization":{"erased":{"refusals":1}"#))
        #expect(
            subjects == [
                "erases a person by user id at NorthCable",
                "erased a person by user id at NorthCable: autosignin 0 rows, authorization 1 rows, authentication 1 rows",
            ])
        #expect(!subjects.joined().contains("ada"))
    }

    @Test("logins that autosignin knows as the same person's are erased as well")
    func followsAccounts() async throws {
        let other = PersonLogin(mvpd: "SouthCable", userID: "u2")
        gateway.autoSignInOperations.exportPerson.answer(with: AccountHolderExport(logins: [other]))
        gateway.operations.exportPerson.answer { request, _ in
            PersonExport(logins: [PersonLogin(mvpd: "NorthCable", userID: "u1")] + (request.selector?.logins ?? []))
        }
        _ = try await gateway.administer(.post, "/people/erase", Self.body)
        #expect(gateway.operations.erasePerson.requests.first?.selector?.logins == [other])
        #expect(gateway.autoSignInOperations.erasePerson.requests.first?.logins.contains(other) == true)
    }

    @Test("an id that stands for two people is refused, and they are shown", arguments: ["export", "erase"])
    func refusesTwo(call: String) async throws {
        let two = ["NorthCable", "SouthCable"].map { PersonIdentity(mvpd: $0, upstreamUserID: "ada", sessions: 1) }
        gateway.operations.exportPerson.answer(with: PersonExport(people: two, isAmbiguous: true))
        let reply = try await gateway.administer(.post, "/people/\(call)", #"{"device":"d1"}"#)
        #expect(reply.status == 409 && reply.failure["code"] as? String == "ambiguous")
        #expect((reply.failure["people"] as? [[String: Any]])?.compactMap { $0["mvpd"] as? String } == ["NorthCable", "SouthCable"])
        #expect(!hasErased)
    }

    @Test("who lacks the right gets 403, and reaches no service", arguments: ["export", "erase"])
    func needsTheRight(call: String) async throws {
        gateway.administration.checkAdministrator.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await gateway.administer(.post, "/people/\(call)", Self.body).status == 403)
        #expect(gateway.operations.exportPerson.requests.isEmpty && !hasErased)
        #expect(gateway.administration.checkAdministrator.requests.map(\.permission) == [.personalData])
    }

    @Test("a service of an older release, or one that is away, is named, and nothing is erased before it", arguments: ["export", "erase"])
    func namesWhoLacks(call: String) async throws {
        gateway.authorization.exportPerson.fail(with: Fault(.unimplemented, "what?"))
        let old = try await gateway.administer(.post, "/people/\(call)", Self.body)
        #expect(old.status == 501 && (old.failure["message"] as? String)?.hasPrefix("authorization does not tell") == true)
        gateway.autoSignInOperations.exportPerson.fail(with: Fault(.unavailable, "away"))
        let away = try await gateway.administer(.post, "/people/\(call)", Self.body)
        #expect(away.status == 503 && (away.failure["message"] as? String)?.hasPrefix("autosignin cannot be asked now") == true)
        #expect(!hasErased)
    }

    @Test("what was erased before a service failed is told, and erasing again is right")
    func tellsWhatIsDone() async throws {
        gateway.operations.erasePerson.fail(with: Fault(.unavailable, "away"))
        let reply = try await gateway.administer(.post, "/people/erase", Self.body)
        let message = reply.failure["message"] as? String ?? ""
        #expect(reply.status == 503 && message.contains("authentication cannot be asked now"))
        #expect(message.contains("what autosignin and authorization held is erased; erase again"))
    }

    @Test(
        "a person is named in one way, within bounds",
        arguments: [
            ("{}", "user"), (#"{"user":"u","device":"d"}"#, "user"), (#"{"device":"a\u0001"}"#, "device"),
            ("{\"code\":\"\(String(repeating: "x", count: 513))\"}", "code"),
            ("{\"user\":\"u\",\"mvpd\":\"\(String(repeating: "x", count: 513))\"}", "mvpd"),
        ])
    func isBounded(body: String, field: String) async throws {
        for call in ["export", "erase"] {
            let reply = try await gateway.administer(.post, "/people/\(call)", body)
            #expect(reply.status == 422 && reply.failure["field"] as? String == field, "\(reply.text)")
        }
        #expect(subjects.isEmpty)
    }
}
