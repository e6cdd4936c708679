internal import CQrEncode

/// A QR code as text for a terminal: two modules per character.
enum QrCode {
    /// - Parameter text: The text of the code, at most a few hundred characters.
    /// - Returns: Its lines with the quiet zone, dark on light; empty when the text does not fit a code.
    static func lines(for text: String) -> [String] {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return [] }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        let modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width)
        let quiet = 2
        func isDark(_ row: Int, _ column: Int) -> Bool {
            guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
            return modules[row * width + column] & 1 == 1
        }
        return stride(from: -quiet, to: width + quiet, by: 2).map { row in
            (-quiet..<width + quiet).map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): " "
                case (true, false): "▄"
                case (false, true): "▀"
                case (false, false): "█"
                }
            }.joined()
        }
    }
}
