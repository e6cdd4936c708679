internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct OperationTests {
    let gateway = TestGateway()

    init() {
        gateway.administration.checkAdministrator.answer(with: Administrator(name: "ada", role: .operator))
        gateway.operations.resetTempPass.answer(with: ResetTempPassResponse(trials: 2))
    }

    @Test("dashboard #13: a statement is plain text and never stored")
    func statement() async throws {
        gateway.administration.downloadSoftwareStatement.answer(with: SoftwareStatement(statement: "a.b.c", softwareID: "s"))
        let reply = try await gateway.administer(.get, "/applications/acme-tv/statement")
        #expect(reply.text == "a.b.c" && reply.headers[.contentType] == "text/plain; charset=utf-8" && reply.headers[.cacheControl] == "no-store")
        gateway.administration.revokeSoftwareStatements.answer(with: RevokeSoftwareStatementsResponse())
        #expect(try await gateway.administer(.post, "/applications/acme-tv/revoke").status == 204)
    }

    @Test("dashboard #32: a rule is started, renewed and ended")
    func degradation() async throws {
        let active = ActiveDegradation(
            rule: DegradationRule(
                id: "r1", kind: .authnAll, requestorID: "ACME1", mvpdID: "NorthCable", platforms: [.fireTv], startsAtMilliseconds: 1,
                endsAtMilliseconds: 2),
            author: "ada", reason: "down")
        gateway.administration.startDegradation.answer(with: DegradationOutcome(outcome: .started(DegradationRules(rules: [active]))))
        let body = #"{"kind":"AuthNAll","requestor":"ACME1","mvpds":["NorthCable"],"platforms":["fireTv"],"endsAt":2,"reason":"down"}"#
        let started = try await gateway.administer(.post, "/degradation", body)
        #expect(started.status == 201)
        #expect(
            started.text
                == #"{"rules":[{"id":"r1","kind":"AuthNAll","requestor":"ACME1","mvpd":"NorthCable","resources":[],"platforms":["fireTv"],"#
                + #""startsAt":1,"endsAt":2,"message":null,"author":"ada","reason":"down"}]}"#)
        let expected = StartDegradationRequest(
            token: "admin", kind: .authnAll, requestorID: "ACME1", mvpdIDs: ["NorthCable"], platforms: [.fireTv], endsAtMilliseconds: 2,
            reason: "down")
        #expect(gateway.administration.startDegradation.requests == [expected])
        gateway.administration.renewDegradation.answer(with: DegradationOutcome(outcome: .started(DegradationRules(rules: [active]))))
        #expect(try await gateway.administer(.put, "/degradation/r1", #"{"endsAt":9}"#).status == 200)
        gateway.administration.endDegradation.answer(with: EndDegradationResponse())
        #expect(try await gateway.administer(.delete, "/degradation/r1").status == 204)
    }

    @Test(
        "dashboard #33: a rule without an end, or of no kind, is 422 and names the member",
        arguments: [
            (#"{"kind":"AuthNAll","requestor":"ACME1","mvpds":["NorthCable"]}"#, "endsAt"),
            (#"{"kind":"All","requestor":"ACME1","mvpds":["NorthCable"],"endsAt":2}"#, "kind"),
            (#"{"kind":"AuthNAll","requestor":"ACME1","endsAt":2}"#, "mvpds"),
            (#"{"kind":"AuthNAll","requestor":"ACME1","mvpds":["NorthCable"],"endsAt":"soon"}"#, "endsAt"),
            (#"{"kind":"AuthNAll","requestor":"A\u0000","mvpds":["NorthCable"],"endsAt":2}"#, "requestor"),
        ])
    func incompleteRule(body: String, field: String) async throws {
        let reply = try await gateway.administer(.post, "/degradation", body)
        #expect(reply.status == 422 && reply.failure["field"] as? String == field)
        #expect(gateway.administration.startDegradation.requests.isEmpty)
    }

    @Test("dashboard #37: CSV equals the table, and a cell is no formula")
    func report() async throws {
        let rows = ["=1+1", "+1", "-1", "@x", "a\"b,c"].map {
            ReportRow(requestorID: "ACME1", mvpdID: "NorthCable", mvpdName: $0, cells: ["30 days"])
        }
        gateway.administration.getReport.answer(with: CatalogueReport(columns: ["Desktop"], rows: rows))
        let table = try await gateway.administer(.get, "/reports/authn-ttl?requestor=ACME1&requestor=ACME2&mvpd=NorthCable&format=csv")
        #expect(
            table.text
                == "Requestor,MVPD,MVPD name,Desktop\r\n"
                + ["'=1+1", "'+1", "'-1", "'@x", "\"a\"\"b,c\""].map { "ACME1,NorthCable,\($0),30 days\r\n" }.joined())
        #expect(table.headers[.contentType]?.hasPrefix("text/csv") == true && table.headers[.contentDisposition]?.contains("authn-ttl.csv") == true)
        #expect(gateway.administration.getReport.requests.map(\.requestorIDs) == [["ACME1", "ACME2"]])
        let json = try await gateway.administer(.get, "/reports/sso")
        #expect((json.json["rows"] as? [[String: Any]])?.map { $0["mvpdName"] as? String } == ["=1+1", "+1", "-1", "@x", "a\"b,c"])
        #expect(try await gateway.administer(.get, "/reports/other").status == 404)
        #expect(try await gateway.administer(.get, "/reports/sso?format=pdf").status == 400)
    }

    @Test("dashboard #34: a reset is asked of config, then done by authentication")
    func reset() async throws {
        let reply = try await gateway.administer(.post, "/temp-pass/reset", #"{"requestor":"ACME1","mvpd":"Preview10","device":"dev-7f3a"}"#)
        #expect(reply.status == 200 && reply.text == #"{"trials":2}"#)
        let check = try #require(gateway.administration.checkAdministrator.requests.first)
        #expect(check.permission == .resetTempPass && check.requestorID == "ACME1" && check.mvpdID == "Preview10")
        #expect(check.subject == "device dev-…", "the log gets no whole device id")
        #expect(
            gateway.operations.resetTempPass.requests == [ResetTempPassRequest(requestor: "ACME1", mvpd: "Preview10", scope: .deviceID("dev-7f3a"))])
    }

    @Test("dashboard #34: what config refuses reaches authentication never")
    func refusedReset() async throws {
        gateway.administration.checkAdministrator.fail(with: Fault(.notFound, "none"))
        #expect(try await gateway.administer(.post, "/temp-pass/reset", #"{"requestor":"BRAVO","mvpd":"Preview10"}"#).status == 404)
        #expect(try await gateway.administer(.post, "/temp-pass/reset", #"{"requestor":"ACME1"}"#).status == 422)
        #expect(try await gateway.administer(.post, "/temp-pass/reset", #"{"requestor":"A","mvpd":"B","device":"x","key":"y"}"#).status == 422)
        #expect(gateway.operations.resetTempPass.requests.isEmpty)
    }

    @Test func aClientIsRevoked() async throws {
        gateway.operations.revokeClient.answer { request, _ in RevokeClientResponse(wasKnown: request.clientID == "c1") }
        #expect(try await gateway.administer(.post, "/clients/c1/revoke").status == 204)
        #expect(try await gateway.administer(.post, "/clients/c2/revoke").status == 404)
        #expect(gateway.administration.checkAdministrator.requests.map(\.permission) == [.revokeClient, .revokeClient])
        gateway.administration.checkAdministrator.fail(with: Fault(.insufficientRole, "operators only"))
        #expect(try await gateway.administer(.post, "/clients/c1/revoke").status == 403)
    }

    @Test("clients #99: config decides who may write a secret and who owns it; authentication keeps it; nothing reads it back")
    func secretsAreWritten() async throws {
        let known = StoredSecret(reference: "old", programmerID: "acme", isFile: false, writtenAtMilliseconds: 5)
        let file = StoredSecret(reference: "openfiber", isFile: true)
        gateway.operations.listSecrets.answer(with: SecretList(secrets: [file, known]))
        gateway.administration.authorizeSecret.answer(with: SecretOutcome(outcome: .programmerID("acme")))
        gateway.operations.putSecret.answer(with: PutSecretResponse(replaced: false))
        let written = try await gateway.administer(.post, "/secrets/fresh", #"{"secret":"s3cret","programmer":"acme"}"#)
        #expect(written.status == 200)
        #expect(written.text == #"{"reference":"fresh","programmer":"acme","replaced":false}"#)
        #expect(gateway.operations.putSecret.requests.map(\.programmerID) == ["acme"])
        #expect(gateway.administration.authorizeSecret.requests.map(\.known) == [nil])
        _ = try await gateway.administer(.post, "/secrets/old", #"{"secret":"s3cret"}"#)
        #expect(gateway.administration.authorizeSecret.requests.last?.known?.programmerID == "acme")

        gateway.administration.authorizeSecret.answer(
            with: SecretOutcome(outcome: .refusal(Refusal(reason: .conflict, message: "A version names it."))))
        let refused = try await gateway.administer(.post, "/secrets/old", #"{"secret":"other"}"#)
        #expect(refused.status == 409 && refused.failure["code"] as? String == "conflict")
        gateway.administration.authorizeSecret.fail(with: Fault(.notFound, "none"))
        #expect(try await gateway.administer(.post, "/secrets/old", #"{"secret":"other"}"#).status == 404)
        #expect(gateway.operations.putSecret.requests.count == 2)
        #expect(try await gateway.administer(.get, "/secrets/old").status == 405)
    }

    @Test(
        "a secret is bounded before anybody is asked",
        arguments: [#"{"secret":""}"#, #"{"secret":"a\u0001"}"#, #"{}"#, "{\"secret\":\"\(String(repeating: "x", count: 4097))\"}"])
    func badSecrets(body: String) async throws {
        #expect(try await gateway.administer(.post, "/secrets/fresh", body).status == 422)
        #expect(gateway.operations.listSecrets.requests.isEmpty && gateway.operations.putSecret.requests.isEmpty)
    }

    @Test("an operator says whose the file of a secret is")
    func ownersOfFiles() async throws {
        gateway.administration.setSecretOwner.answer(with: SecretOwners())
        gateway.administration.getAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        gateway.administration.listSecretOwners.answer(with: SecretOwners())
        gateway.operations.listSecrets.answer(with: SecretList(secrets: [StoredSecret(reference: "openfiber", isFile: true)]))
        let set = try await gateway.administer(.put, "/secrets/openfiber/owner", #"{"programmer":"acme"}"#)
        #expect(set.status == 200 && set.text == #"{"reference":"openfiber","programmer":"acme"}"#)
        #expect(try await gateway.administer(.put, "/secrets/openfiber/owner", "{}").text == #"{"reference":"openfiber","programmer":null}"#)
        #expect(gateway.administration.setSecretOwner.requests.map(\.programmerID) == ["acme", ""])
        gateway.administration.setSecretOwner.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await gateway.administer(.put, "/secrets/openfiber/owner", "{}").status == 403)
        gateway.operations.listSecrets.answer(
            with: SecretList(secrets: [StoredSecret(reference: "file", isFile: true), StoredSecret(reference: "open", isFile: true)]))
        gateway.administration.listSecretOwners.answer(
            with: SecretOwners(owners: [
                SecretOwner(reference: "apple.key", programmerID: "acme"), SecretOwner(reference: "file", programmerID: "acme"),
                SecretOwner(reference: "open", isOpen: true),
            ]))
        gateway.administration.getAdministrator.answer(with: Administrator(name: "ed", role: .editor, programmerIDs: ["acme"]))
        let own = #"{"reference":"file","programmer":"acme","kept":"file","writtenAt":null}"#
        let key = #"{"reference":"apple.key","programmer":"acme","kept":"file","writtenAt":null}"#
        #expect(try await gateway.administer(.get, "/secrets").text == #"{"secrets":[\#(own),\#(key)]}"#)
        gateway.administration.getAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        let open = #"{"reference":"open","programmer":null,"kept":"file","writtenAt":null,"open":true}"#
        #expect(try await gateway.administer(.get, "/secrets").text == #"{"secrets":[\#(own),\#(open),\#(key)]}"#)
    }

    @Test("a name that is no file's gets no owner: a misspelt one hears which there are, a written one that its owner is settled")
    func ownersOfOtherNames() async throws {
        gateway.administration.setSecretOwner.answer(with: SecretOwners())
        gateway.administration.getAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        gateway.administration.listSecretOwners.answer(with: SecretOwners(owners: [SecretOwner(reference: "apple.key", programmerID: "acme")]))
        gateway.operations.listSecrets.answer(
            with: SecretList(secrets: [StoredSecret(reference: "openfiber", isFile: true), StoredSecret(reference: "written", programmerID: "acme")]))
        func problem(_ reference: String) async throws -> String {
            let refused = try await gateway.administer(.put, "/secrets/\(reference)/owner", #"{"programmer":"acme"}"#)
            #expect(refused.status == 422)
            let problems = refused.failure["problems"] as? [[String: Any]] ?? []
            return problems.first?["message"] as? String ?? ""
        }
        #expect(try await problem("opnefiber") == "is no file of a secret; there are apple.key, openfiber")
        #expect(try await problem("written").hasPrefix("is a written secret: its owner is settled"))
        #expect(gateway.administration.setSecretOwner.requests.isEmpty)
        // Nobody lists key files.
        #expect(try await gateway.administer(.put, "/secrets/other.key/owner", #"{"programmer":"acme"}"#).status == 200)
        // An editor may not, and hears of no name.
        gateway.administration.getAdministrator.answer(with: Administrator(name: "ed", role: .editor, programmerIDs: ["acme"]))
        gateway.administration.setSecretOwner.fail(with: Fault(.insufficientRole, "no"))
        #expect(try await gateway.administer(.put, "/secrets/written/owner", "{}").status == 403)
    }

    @Test("an editor sees the references of own programmers, an operator all")
    func secretsAreListed() async throws {
        gateway.administration.listSecretOwners.answer(with: SecretOwners())
        gateway.operations.listSecrets.answer(
            with: SecretList(secrets: [
                StoredSecret(reference: "file", isFile: true), StoredSecret(reference: "own", programmerID: "acme", writtenAtMilliseconds: 7),
                StoredSecret(reference: "foreign", programmerID: "bravo", writtenAtMilliseconds: 8),
            ]))
        gateway.administration.getAdministrator.answer(with: Administrator(name: "ed", role: .editor, programmerIDs: ["acme"]))
        #expect(
            try await gateway.administer(.get, "/secrets").text
                == #"{"secrets":[{"reference":"own","programmer":"acme","kept":"store","writtenAt":7}]}"#)
        gateway.administration.getAdministrator.answer(with: Administrator(name: "olga", role: .operator))
        let all = try await gateway.administer(.get, "/secrets").text
        #expect(all.contains(#"{"reference":"file","programmer":null,"kept":"file","writtenAt":null}"#) && all.contains("foreign"))
    }

    @Test("a push tells config which secrets there are; a service that keeps none, or does not answer, is told too")
    func pushesTellSecrets() async throws {
        gateway.operations.listSecrets.answer(with: SecretList(secrets: [StoredSecret(reference: "own", programmerID: "acme")]))
        _ = try await gateway.administer(.post, "/draft/push", #"{"description":"x"}"#)
        gateway.operations.listSecrets.fail(with: Fault(.unimplemented, "none"))
        _ = try await gateway.administer(.post, "/draft/push", #"{"description":"x"}"#)
        gateway.operations.listSecrets.fail(with: Fault(.unavailable, "away"))
        _ = try await gateway.administer(.post, "/pushes/p1/approve")
        #expect(gateway.administration.pushDraft.requests.map { $0.secrets?.knowledge } == [.told, .untold])
        #expect(gateway.administration.pushDraft.requests.first?.secrets?.secrets.map(\.reference) == ["own"])
        #expect(gateway.administration.decidePush.requests.map { $0.secrets?.knowledge } == [.away])
    }

    @Test func historyIsTold() async throws {
        gateway.administration.getAdministrator.answer(with: Administrator(name: "ada", role: .editor, programmerIDs: ["acme"]))
        #expect(try await gateway.administer(.get, "/administrator").text == #"{"name":"ada","role":"editor","programmers":["acme"],"rights":[]}"#)
        let record = AuditRecord(number: 1, createdAtMilliseconds: 5, author: "ada", action: "push", text: "pushed", version: 0, recordSha256: "00")
        gateway.administration.listAuditRecords.answer(with: AuditPage(records: [record], total: 1, page: 1, size: 50))
        #expect(try await gateway.administer(.get, "/audit").text.contains(#""action":"push","text":"pushed","version":null"#))
        gateway.administration.verifyHistory.answer(
            with: HistoryVerdict(isIntact: false, problems: ["version 17: the document was changed"], versions: 20, auditRecords: 30))
        let verdict = try await gateway.administer(.get, "/history/verification")
        #expect(verdict.text == #"{"intact":false,"problems":["version 17: the document was changed"],"versions":20,"auditRecords":30}"#)
    }
}
