"""What people are asked, and what they answered: pure, of no tool and of no suite."""
