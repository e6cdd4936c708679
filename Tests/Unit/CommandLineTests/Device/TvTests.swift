@testable import CommandKit
@testable import Simulation
import EntitlementClient
import Foundation
import Testing

@Suite("The TV in the terminal")
struct TvTests {
    private static let code = RegistrationCode(
        code: "CNMFMFW", provider: "NorthCable", expires: Date(timeIntervalSince1970: 1_900_000_000), lifetime: .seconds(1800),
        loginAddress: URL(string: "http://127.0.0.1:8080/activate"))

    private static func screen(_ page: TvScreen.Page = .channels) -> TvScreen {
        var screen = TvScreen(
            name: "Living room", brand: "ACME1",
            channels: ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"].map { TvScreen.Channel(id: $0) })
        screen.show(page)
        return screen
    }

    private static let long = String(repeating: "a long text that goes on ", count: 12)

    private static var pages: [TvScreen] {
        var locked = screen()
        locked.channels[0].lock = .open
        locked.channels[1].lock = .locked(reason: long)
        locked.tell(long, isBad: true)
        locked.systemProvider = long
        let choices = (0..<60).map { TvScreen.Choice(id: "\($0)", title: "Provider \($0)", note: long) }
        return [
            screen(), locked, screen(.list(title: long, note: long, choices)),
            screen(.code(CodeText(code, gateway: "http://127.0.0.1:8080"), until: .now + .seconds(90))),
            screen(.playing(channel: "ACME1-NEWS", facts: [("user", long)], since: .now - .seconds(5000))), screen(.sheet(title: "Yes?", text: long)),
        ]
    }

    @Test("every page fills the terminal and is no wider", arguments: [(80, 24), (40, 10), (200, 60), (79, 20)])
    func fits(width: Int, height: Int) {
        for screen in Self.pages {
            let lines = TvFrame(Console(isStyled: false), width: width, height: height).lines(screen)
            #expect(lines.count == height)
            #expect(lines.allSatisfy { $0.count <= width }, "\(lines.first { $0.count > width } ?? "")")
        }
    }

    @Test("colours take no room")
    func styles() {
        for screen in Self.pages {
            let plain = TvFrame(Console(isStyled: false), width: 80, height: 24).lines(screen)
            let styled = TvFrame(Console(isStyled: true), width: 80, height: 24).lines(screen)
            #expect(styled.map { $0.replacing(/\u{1b}\[[0-9]*m/, with: "") } == plain)
            #expect(styled != plain)
        }
    }

    @Test("the code page holds the code in groups, its address and a QR code that says the address with the code")
    func showsCode() throws {
        let code = CodeText(Self.code, gateway: "http://127.0.0.1:8080")
        let screen = Self.screen(.code(code, until: .now + .seconds(90)))
        let lines = TvFrame(Console(isStyled: false), width: 80, height: 24).lines(screen)
        let text = lines.joined(separator: "\n")
        #expect(text.contains("CNM FMFW") && text.contains("http://127.0.0.1:8080/activate") && text.contains("Good for 1:"))
        let width = QrCode.lines(for: code.addressWithCode)[0].count
        let picture = lines.filter { $0.contains("█") }.map { String($0.dropFirst(2).prefix(width)) }
        #expect(QrReader.text(of: picture) == "http://127.0.0.1:8080/activate?code=CNMFMFW")
    }

    @Test("a terminal too small for the picture shows the text")
    func leavesPictureOut() {
        let screen = Self.screen(.code(CodeText(Self.code, gateway: "http://127.0.0.1:8080"), until: .now + .seconds(90)))
        let text = TvFrame(Console(isStyled: false), width: 50, height: 24).lines(screen).joined(separator: "\n")
        #expect(text.contains("CNM FMFW") && !text.contains("█"))
    }

    @Test("locks say what a channel is")
    func showsLocks() {
        var screen = Self.screen()
        screen.channels[0].lock = .open
        screen.channels[1].lock = .locked(reason: "Not in your package")
        let lines = TvFrame(Console(isStyled: false), width: 80, height: 24).lines(screen)
        #expect(lines.contains { $0.contains("● ") && $0.contains("ACME1-NEWS") && $0.contains("open") })
        #expect(lines.contains { $0.contains("ACME1-SPORT") && $0.contains("locked: Not in your package") })
        #expect(lines.contains { $0.contains("ACME1-KIDS") && $0.contains("sign in to watch") })
    }

    @Test("the remote goes round, and the channel stays chosen")
    func moves() {
        var screen = Self.screen()
        screen.move(-1)
        #expect(screen.selection == 2)
        screen.show(.list(title: "", note: "", [TvScreen.Choice(id: "a", title: "a")]))
        #expect(screen.selection == 0)
        screen.move(1)
        screen.show(.channels)
        #expect(screen.selection == 2)
        screen.move(1)
        #expect(screen.selection == 0)
    }

    @Test(
        "keys of terminals",
        arguments: [
            ("\u{1b}[A", [TvKey.up]), ("\u{1b}OB", [.down]), ("\r", [.enter]), ("\u{1b}", [.back]), ("\t", [.tab]), ("\u{3}", [.interrupt]),
            ("q", [.letter("q")]), ("\u{1b}[1;5A\u{1b}[200~x", [.up, .letter("x")]), ("\u{7f}", [.back]), ("é", []), ("\u{1b}[", []),
        ])
    func readsKeys(bytes: String, keys: [TvKey]) {
        #expect(TvKey.keys(in: Array(bytes.utf8)) == keys)
    }

    @Test("client-sdk #71: the printed QR code decodes to the printed address", arguments: ["http://127.0.0.1:8080", "https://tv.example", "x"])
    func printsReadableCode(server: String) throws {
        let address = "\(server)/activate"
        let code = RegistrationCode(
            code: "QK7M2XD", provider: "NorthCable", expires: Date(), lifetime: .seconds(1800), loginAddress: URL(string: address))
        let lines = CodeText(code, gateway: server).lines(Console(isStyled: false))
        let picture = lines.filter { $0.contains("█") }.map { String($0.dropFirst(4)) }
        let printed = try #require(lines.first { $0.contains("?code=") }).split(separator: " ").last
        #expect(QrReader.text(of: picture) == printed.map(String.init))
        #expect(QrReader.text(of: picture) == "\(address)?code=QK7M2XD")
        #expect(CodeText(code, gateway: server).lines(Console(isStyled: false), hasQrCode: false).allSatisfy { !$0.contains("█") })
    }

    @Test("QR codes of all versions up to 10 are read back", arguments: [1, 14, 20, 26, 40, 60, 84, 100, 120, 150, 180, 213])
    func readsAllVersions(length: Int) {
        let text = String("https://tv.example/".appending(String(repeating: "abc7", count: 60)).prefix(length))
        #expect(QrReader.text(of: QrCode.lines(for: text)) == text)
    }
}
