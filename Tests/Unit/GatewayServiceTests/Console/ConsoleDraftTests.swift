internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct ConsoleDraftTests {
    let console = ConsoleFixture()

    init() { console.gateway.administration.getDraft.answer(with: ConsoleFixture.draft) }

    @Test("dashboard #23: the review has the old and the new value of each line, in the words of the form")
    func reviews() async throws {
        let page = try await console.get("/draft")
        #expect(page.text.contains("ACME1/NorthCable") && page.text.contains("Enabled: yes → no"))
        #expect(page.text.contains(#"name="etag" value="d1""#) && page.text.contains("One change"))
        #expect(try await console.get("/channels").text.contains("1 change is not live yet."))
    }

    @Test("the review names members with which no copy of config of the release before starts, where they are set")
    func warnsOfNewMembers() async throws {
        let warning = "Push this only when all copies of <code>config</code> are this release."
        #expect(!(try await console.get("/draft").text.contains(warning)))
        let set = CatalogueChange(
            number: 2, kind: .requestor, entityID: "ACME1", property: "termsUrl", operation: .add, newJson: "\"https://acme.example/t\"")
        let made = CatalogueChange(
            number: 3, kind: .requestor, entityID: "NEWS", operation: .add, newJson: #"{"id":"NEWS","privacyUrl":"https://news.example/p"}"#)
        console.gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 7, changes: [ConsoleFixture.change, made, set], etag: "d1"))
        let page = try await console.get("/draft")
        #expect(page.text.contains(warning) && page.text.contains("a catalogue that has privacyUrl, termsUrl."))
        let removed = CatalogueChange(
            number: 2, kind: .requestor, entityID: "ACME1", property: "termsUrl", operation: .remove, oldJson: "\"https://acme.example/t\"")
        console.gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 7, changes: [removed], etag: "d1"))
        #expect(!(try await console.get("/draft").text.contains(warning)), "what goes out of the catalogue keeps nobody from it")
    }

    @Test("dashboard #22: without a description nothing is pushed", arguments: ["", "+%0A"])
    func needsDescription(text: String) async throws {
        let reply = try await console.post("/draft/push", "etag=d1&description=\(text)")
        #expect(reply.status == 422 && reply.text.contains(#"aria-invalid="true""#))
        #expect(console.gateway.administration.pushDraft.requests.isEmpty)
    }

    @Test("a push leads to the new version")
    func pushes() async throws {
        console.gateway.administration.pushDraft.answer(with: PushOutcome(outcome: .version(CatalogueVersion(version: 8))))
        #expect(try await console.post("/draft/push", "etag=d1&description=Switch+it+off").location == "/console/history/8?pushed=1")
        let request = console.gateway.administration.pushDraft.requests.last
        #expect(request?.description == "Switch it off" && request?.ifMatch == "d1" && request?.secrets?.knowledge == .told)
        console.gateway.administration.pushDraft.answer(with: PushOutcome(outcome: .pending(PendingPush(id: "p1"))))
        #expect(try await console.post("/draft/push", "description=x").location == "/console/history?waits=1")
    }

    @Test("dashboard #25: a push that lost the race shows what was pushed instead, and keeps the description")
    func losesTheRace() async throws {
        var theirs = ConsoleFixture.change
        theirs.newJson = "\"theirs\""
        let refusal = Refusal(reason: .conflict, message: "A newer version touches the same properties.", conflicts: [theirs])
        console.gateway.administration.pushDraft.answer(with: PushOutcome(outcome: .refusal(refusal)))
        let reply = try await console.post("/draft/push", "etag=d1&description=My+words")
        #expect(reply.status == 409 && reply.text.contains("What was pushed meanwhile") && reply.text.contains("&quot;theirs&quot;"))
        #expect(reply.text.contains("My words</textarea>"))
        let other = Refusal(reason: .preconditionFailed, message: "The draft is another one by now.")
        console.gateway.administration.pushDraft.answer(with: PushOutcome(outcome: .refusal(other)))
        let changed = try await console.post("/draft/push", "etag=old&description=My+words")
        #expect(changed.status == 412 && changed.text.contains("another window") && changed.text.contains("My words</textarea>"))
    }

    @Test("dashboard #24: one line is dropped, or all")
    func dismisses() async throws {
        console.gateway.administration.dropChange.answer(with: DraftOutcome(outcome: .draft(CatalogueDraft())))
        console.gateway.administration.discardDraft.answer(with: CatalogueDraft())
        #expect(try await console.post("/draft/drop", "number=1&etag=d1").location == "/console/draft")
        #expect(console.gateway.administration.dropChange.requests == [DropChangeRequest(token: ConsoleFixture.secret, number: 1, ifMatch: "d1")])
        #expect(try await console.post("/draft/dismiss", "").location == "/console/draft?dismissed=1")
        console.gateway.administration.getDraft.answer(with: CatalogueDraft(baseVersion: 7))
        #expect(try await console.get("/draft?dismissed=1").text.contains("Your draft is empty"))
    }

    @Test(
        "dashboard #27: exactly two versions are compared, the older first",
        arguments: ["", "version=1", "version=1&version=1", "version=1&version=2&version=3"])
    func comparesTwo(query: String) async throws {
        let reply = try await console.get("/history/compare?" + query)
        #expect(reply.status == 400 && reply.text.contains("Choose exactly two versions"))
        console.gateway.administration.compareVersions.answer(
            with: VersionComparison(oldVersion: 3, newVersion: 9, changes: [ConsoleFixture.change]))
        let page = try await console.get("/history/compare?version=9&version=3")
        #expect(page.status == 200 && page.text.contains("Versions 3 and 9"))
        #expect(console.gateway.administration.compareVersions.requests.last?.oldVersion == 3)
    }

    @Test("dashboard #28: a former version becomes the draft")
    func restores() async throws {
        let (old, new) = (CatalogueVersion(version: 3, description: "<i>"), CatalogueVersion(version: 9, isCurrent: true))
        console.gateway.administration.listVersions.answer(with: VersionPage(versions: [new, old], total: 2, page: 1, size: 200))
        console.gateway.administration.getVersion.answer(with: VersionSnapshot(version: old, documentJson: "{}"))
        console.gateway.administration.restoreVersion.answer(with: DraftOutcome(outcome: .draft(ConsoleFixture.draft)))
        let page = try await console.get("/history/3")
        #expect(page.text.contains("/console/history/3/restore") && page.text.contains("&lt;i&gt;"))
        #expect(console.gateway.administration.compareVersions.requests.isEmpty, "the first version has none before it")
        console.gateway.administration.compareVersions.answer(
            with: VersionComparison(oldVersion: 3, newVersion: 9, changes: [ConsoleFixture.change]))
        console.gateway.administration.getVersion.answer(with: VersionSnapshot(version: new, documentJson: "{}"))
        #expect(try await console.get("/history/9").text.contains("Enabled: yes → no"))
        #expect(console.gateway.administration.compareVersions.requests.map(\.oldVersion) == [3])
        #expect(try await console.post("/history/3/restore", "").location == "/console/draft")
        let refusal = Refusal(reason: .preconditionFailed, message: "The draft has changes; push or dismiss them first.")
        console.gateway.administration.restoreVersion.answer(with: DraftOutcome(outcome: .refusal(refusal)))
        #expect(try await console.post("/history/3/restore", "").text.contains("push or dismiss them first"))
    }

    @Test("dashboard #30: a push that waits is decided by a second person; its author takes it back")
    func decides() async throws {
        let pushes = [
            PendingPush(id: "p1", author: "ed", description: "theirs", changes: [ConsoleFixture.change]),
            PendingPush(id: "p2", author: "ada", description: "mine", changes: []),
        ]
        console.gateway.administration.listPendingPushes.answer(with: PendingPushes(pushes: pushes))
        let page = try await console.get("/history")
        #expect(page.text.components("Approve and push") == 1 && page.text.components("Take it back") == 1)
        console.gateway.administration.decidePush.answer(with: PushOutcome(outcome: .version(CatalogueVersion(version: 8))))
        #expect(try await console.post("/history/decide", "id=p1&decision=approve").location == "/console/history/8?pushed=1")
        #expect(console.gateway.administration.decidePush.requests.last?.approve == true)
    }
}
