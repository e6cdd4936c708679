@testable import ContractConformance
import Testing

struct VisibleTextTests {
    @Test func nothingThatAServiceSaysMovesTheCursor() {
        let said = "a\u{1b}[2J\u{7}\rb\u{9b}1m\u{202e}c\u{2028}\n\td\u{7f}"
        #expect(VisibleText.text(said) == #"a\u{1b}[2J\u{7}\u{d}b\u{9b}1m\u{202e}c\u{2028}\n\td\u{7f}"#)
        #expect(VisibleText.text("Fernseher – Größe 55″ テレビ") == "Fernseher – Größe 55″ テレビ")
    }
}
